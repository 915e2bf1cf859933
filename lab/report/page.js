// Draws the charts of a report: reads the JSON that figures.cpp left in each <figure
// class="chart">, takes the current colours from page.css, and hands both to Chart.js. Runs once at
// the end of the page, and again when light turns dark.
//
// A name looks the same in every chart. A figure that is drawn has data-drawn="true"; one that
// cannot be drawn shows an error, also on the console. Heat maps are plain HTML; here their details
// are made visible.
'use strict';
(() => {
    const root = document.documentElement;
    const colour = name => getComputedStyle(root).getPropertyValue(name).trim();

    // ---- how a series looks: its place among the names of the page gives colour, dash and mark ----
    const colours = 6;
    const dashes = [[], [7, 4], [2, 3], [12, 4], [9, 3, 2, 3], [4, 2]];
    const marks = ['circle', 'rect', 'triangle', 'rectRot', 'crossRot', 'star'];
    const places = new Map();
    const highlight = root.dataset.highlight;
    if (highlight) places.set(highlight, 0);
    const placeOf = name => {
        if (!places.has(name)) places.set(name, highlight ? places.size : places.size + 1);
        return places.get(name);
    };
    const lookOf = name => {
        const place = placeOf(name);
        const lap = Math.floor(place / colours);
        return {
            colour: colour(`--series-${place % colours}`),
            dash: dashes[(place + lap) % dashes.length],
            mark: marks[(place + lap) % marks.length],
            strong: name === highlight,
            hollow: lap % 2 === 1,  // a bar has no dash: where colours repeat, it is an outline
        };
    };

    // ---- numbers as text ----
    const three = value => String(Number(value.toPrecision(3)));
    const scaled = (value, steps) => {
        const [size, suffix] = steps.find(([least]) => Math.abs(value) >= least * 0.9995) ?? steps[steps.length - 1];
        return three(value / size) + suffix;
    };
    const write = {
        number: value => scaled(value, [[1e12, ' T'], [1e9, ' G'], [1e6, ' M'], [1e3, ' k'], [1, '']]),
        percent: value => three(100 * value) + ' %',
        microseconds: value => scaled(value, [[1e6, ' s'], [1e3, ' ms'], [1, ' µs']]),
    };
    const short = (axis, value) => value === 0 ? '0' : write[axis.unit](value);
    const exact = (axis, value) => axis.unit === 'number' ?
        value.toLocaleString('en', {maximumSignificantDigits: 9}) : short(axis, value);

    // ---- axes ----
    // A logarithmic axis from a power of ten to the largest value. Zeros are drawn at its foot, one
    // decade below the least positive value. Without positive values it is a linear one.
    const rangeOf = (axis, values) => {
        const positive = values.filter(value => value > 0);
        if (!axis.log || positive.length === 0) return {log: false, place: value => value};
        const zeros = values.some(value => value === 0);
        const least = positive.reduce((a, b) => Math.min(a, b));
        const most = positive.reduce((a, b) => Math.max(a, b));
        const decade = Math.floor(Math.log10(least) + 1e-9);
        const foot = 10 ** (zeros ? decade - 1 : decade);
        return {
            log: true, zeros, foot, top: Math.max(most * 1.5, 10 * foot),
            place: value => value > 0 ? value : value === 0 ? foot : NaN,
        };
    };
    const logTicks = (range, room) => {
        const decades = Math.log10(range.top / range.foot);
        const stride = Math.max(1, Math.ceil(decades / room));
        const steps = decades <= 2 && !range.zeros ? [1, 2, 5] : [1];
        const ticks = [];
        for (let k = Math.round(Math.log10(range.foot)), n = 0; 10 ** k <= range.top * 1.0001; ++k, ++n) {
            if (n % stride !== 0) continue;
            for (const step of steps) {
                const value = Number((step * 10 ** k).toPrecision(3));
                if (value <= range.top * 1.0001) ticks.push({value});
            }
        }
        return ticks;
    };
    // The linear axis of a scatter chart: room on both sides, so that small differences look small.
    const around = values => {
        const least = values.reduce((a, b) => Math.min(a, b), Infinity);
        const most = values.reduce((a, b) => Math.max(a, b), -Infinity);
        if (!(least <= most)) return {};
        const span = Math.max(most - least, 0.25 * Math.abs(most), 1e-9);
        const middle = (least + most) / 2, side = 0.6 * span;
        return {suggestedMin: least >= 0 ? Math.max(0, middle - side) : middle - side, suggestedMax: middle + side};
    };
    const scaleOf = (axis, range, theme, room) => {
        const scale = {
            type: range.log ? 'logarithmic' : 'linear',
            title: {display: axis.title !== '', text: axis.title, color: theme.muted},
            grid: {color: theme.grid, borderColor: theme.line, tickColor: theme.grid},
            ticks: {
                color: theme.muted, maxRotation: 0, autoSkipPadding: 14,
                callback: value => range.zeros && value <= range.foot * 1.0001 ? '0' : short(axis, value),
            },
        };
        if (range.log) {
            Object.assign(scale, {min: range.foot, max: range.top});
            scale.afterBuildTicks = built => { built.ticks = logTicks(range, room); };
        } else {
            scale.beginAtZero = true;
            scale.ticks.maxTicksLimit = room + 1;
        }
        return scale;
    };

    // ---- drawing beside the points ----
    const overlaps = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
    // The label of a point, right, left, above or below it; if none of the four is free, only the
    // tooltip shows it.
    const pointLabels = theme => ({
        id: 'pointLabels',
        afterDatasetsDraw(chart) {
            const {ctx, chartArea: area} = chart;
            const taken = [], wanted = [];
            chart.data.datasets.forEach((set, index) => {
                if (!chart.isDatasetVisible(index)) return;
                chart.getDatasetMeta(index).data.forEach((element, at) => {
                    if (Number.isNaN(element.x) || Number.isNaN(element.y)) return;
                    taken.push({x: element.x - 7, y: element.y - 7, w: 14, h: 14});
                    if (set.data[at].label) wanted.push({x: element.x, y: element.y, text: set.data[at].label});
                });
            });
            ctx.save();
            ctx.font = `11px ${Chart.defaults.font.family}`;
            ctx.fillStyle = theme.muted;
            ctx.textBaseline = 'middle';
            for (const each of wanted) {
                const w = ctx.measureText(each.text).width + 4, h = 13;
                const boxes = [[each.x + 8, each.y - h / 2], [each.x - 8 - w, each.y - h / 2],
                               [each.x - w / 2, each.y - 8 - h], [each.x - w / 2, each.y + 8]];
                const free = boxes.map(([x, y]) => ({x, y, w, h})).find(box =>
                    box.x >= area.left && box.x + w <= area.right && box.y >= area.top && box.y + h <= area.bottom &&
                    !taken.some(other => overlaps(box, other)));
                if (!free) continue;
                taken.push(free);
                ctx.fillText(each.text, free.x + 2, free.y + h / 2);
            }
            ctx.restore();
        },
    });
    const barLabels = (theme, axis, values) => ({
        id: 'barLabels',
        afterDatasetsDraw(chart) {
            const {ctx, chartArea: area} = chart;
            ctx.save();
            ctx.font = `11px ${Chart.defaults.font.family}`;
            ctx.textBaseline = 'middle';
            ctx.fillStyle = theme.muted;
            chart.data.datasets.forEach((set, index) => {
                if (!chart.isDatasetVisible(index)) return;
                chart.getDatasetMeta(index).data.forEach((element, at) => {
                    const value = values[index][at];
                    if (value === null) return;
                    const end = Number.isNaN(element.x) ? area.left : element.x;
                    ctx.fillText(short(axis, value), Math.max(end, area.left) + 5, element.y);
                });
            });
            ctx.restore();
        },
    });

    // An upright bar from low to high at each point, with feet; on a logarithmic axis a bar that
    // reaches 0 ends at the foot of the axis.
    const errorBars = (series, kept, range) => ({
        id: 'errorBars',
        beforeDatasetsDraw(chart) {
            const {ctx, chartArea: area, scales: {y: scale}} = chart;
            ctx.save();
            ctx.beginPath();
            ctx.rect(area.left - 8, area.top, area.width + 16, area.height);
            ctx.clip();
            ctx.lineWidth = 1.5;
            chart.errorBars = 0;
            series.forEach((each, index) => {
                if (!each.low || !chart.isDatasetVisible(index)) return;
                ctx.strokeStyle = chart.data.datasets[index].borderColor;
                chart.getDatasetMeta(index).data.forEach((element, n) => {
                    const at = kept[n], low = each.low[at], high = each.high[at];
                    if (low === null || high === null || Number.isNaN(element.x) || Number.isNaN(element.y)) return;
                    const top = scale.getPixelForValue(range.place(high));
                    const foot = range.log && low <= 0 ? area.bottom : scale.getPixelForValue(low);
                    if (!Number.isFinite(top) || !Number.isFinite(foot)) return;
                    ctx.beginPath();
                    ctx.moveTo(element.x, top);
                    ctx.lineTo(element.x, foot);
                    ctx.moveTo(element.x - 4, top);
                    ctx.lineTo(element.x + 4, top);
                    ctx.moveTo(element.x - 4, foot);
                    ctx.lineTo(element.x + 4, foot);
                    ctx.stroke();
                    ++chart.errorBars;
                });
            });
            ctx.restore();
        },
    });

    // ---- one configuration for each kind ----
    const common = (theme, title, label) => ({
        animation: false, responsive: true, maintainAspectRatio: false, normalized: false,
        plugins: {
            legend: {display: false},
            tooltip: {
                backgroundColor: theme.card, borderColor: theme.line, borderWidth: 1, titleColor: theme.ink,
                bodyColor: theme.ink, usePointStyle: true, padding: 10, boxPadding: 4, callbacks: {title, label},
            },
        },
    });
    const finite = values => values.filter(value => value !== null);
    const placed = (range, value) => value === null ? NaN : range.place(value);  // a gap is NaN to Chart.js

    const kinds = {
        line(spec, state, theme) {
            const {x_axis: xAxis, y_axis: yAxis} = spec;
            const yScale = {...yAxis, log: yAxis.log && !state.linear};
            const xs = rangeOf(xAxis, finite(spec.x));
            const begun = spec.x.map((x, at) => x !== null && spec.series.some(each => each.y[at]));
            // Error bars reach beyond their points; a lower end gets no room of its own, because it
            // may be close to 0.
            const ys = rangeOf(yScale, finite(spec.series.flatMap(
                each => [...each.y, ...each.high ?? []].filter(
                    (y, at) => !yScale.log || begun[at % Math.max(1, begun.length)]))));
            // A count of 0 has no place on a logarithmic axis.
            const kept = spec.x.map((x, at) => at).filter(
                at => spec.x[at] !== null && (!ys.log || begun[at]));
            const stride = Math.max(1, Math.ceil(kept.length / 6));
            const datasets = spec.series.map((each, index) => {
                const look = lookOf(each.name);
                const first = kept.length <= 12 ? 0 : Math.floor(stride * index / Math.max(1, spec.series.length));
                return {
                    label: each.name, hidden: state.hidden.has(each.name),
                    data: kept.map(at => ({x: xs.place(spec.x[at]), y: placed(ys, each.y[at])})),
                    borderColor: look.colour, backgroundColor: look.colour, borderDash: look.dash,
                    borderWidth: look.strong ? 3.5 : 2, pointStyle: look.mark, order: look.strong ? 0 : 1,
                    pointRadius: kept.map((at, n) => n % stride === first ? 4 : 0), pointHoverRadius: 5,
                    pointHitRadius: 8, pointBorderWidth: 2, clip: 8,
                };
            });
            const x = item => spec.x[kept[item.dataIndex]];
            const y = item => spec.series[item.datasetIndex].y[kept[item.dataIndex]];
            const ends = item => {
                const {low, high} = spec.series[item.datasetIndex], at = kept[item.dataIndex];
                return low && low[at] !== null && high[at] !== null ?
                    ` (${exact(yAxis, low[at])} to ${exact(yAxis, high[at])})` : '';
            };
            return {
                type: 'line', zeros: ys.zeros,
                data: {datasets},
                options: {
                    ...common(theme, items => items.length ? `${xAxis.title}: ${exact(xAxis, x(items[0]))}` : '',
                        item => ` ${item.dataset.label}: ${exact(yAxis, y(item))}${ends(item)}`),
                    parsing: false, interaction: {mode: 'index', intersect: false},
                    scales: {x: scaleOf(xAxis, xs, theme, state.room), y: scaleOf(yScale, ys, theme, 6)},
                },
                plugins: [errorBars(spec.series, kept, ys)],
            };
        },
        scatter(spec, state, theme) {
            const {x_axis: xAxis, y_axis: yAxis} = spec;
            const yScale = {...yAxis, log: yAxis.log && !state.linear};
            const all = spec.series.flatMap(each => each.points);
            const xs = rangeOf(xAxis, finite(all.map(point => point.x)));
            const ys = rangeOf(yScale, finite(all.map(point => point.y)));
            const datasets = spec.series.map(each => {
                const look = lookOf(each.name);
                return {
                    label: each.name, hidden: state.hidden.has(each.name), pointStyle: look.mark,
                    data: each.points.map(point => ({
                        label: point.label, x: placed(xs, point.x), y: placed(ys, point.y),
                    })),
                    borderColor: look.colour, backgroundColor: look.colour + '80', borderWidth: 2,
                    pointRadius: look.strong ? 7 : 6, pointHoverRadius: 8, pointHitRadius: 10,
                    order: look.strong ? 0 : 1, clip: 8,
                };
            });
            const point = item => spec.series[item.datasetIndex].points[item.dataIndex];
            return {
                type: 'scatter', zeros: ys.zeros,
                data: {datasets},
                options: {
                    ...common(theme, items => items.slice(0, 1).flatMap(one => [one.dataset.label, point(one).label]),
                        item => [` ${exact(xAxis, point(item).x)} ${xAxis.title}`,
                                 ` ${exact(yAxis, point(item).y)} ${yAxis.title}`]),
                    parsing: false, interaction: {mode: 'nearest', intersect: true},
                    scales: {
                        x: {
                            ...scaleOf(xAxis, xs, theme, state.room), beginAtZero: false,
                            ...(xs.log ? {} : around(finite(all.map(each => each.x)))),
                        },
                        y: scaleOf(yScale, ys, theme, 6),
                    },
                },
                plugins: [pointLabels(theme)],
            };
        },
        bar(spec, state, theme) {
            const axis = {...spec.value_axis, log: spec.value_axis.log && !state.linear};
            const range = rangeOf(axis, finite(spec.series.flatMap(each => each.y)));
            const datasets = spec.series.map((each, index) => {
                const grade = Math.round(index * 2 / Math.max(1, spec.series.length - 1));
                const look = spec.graded ? {colour: theme.grades[grade]} : lookOf(each.name);
                return {
                    label: each.name, hidden: state.hidden.has(each.name), pointStyle: 'rect',
                    data: each.y.map(y => placed(range, y)),
                    backgroundColor: look.hollow ? look.colour + '30' : look.colour,
                    borderColor: look.colour, borderWidth: look.hollow ? 2 : 0,
                    borderRadius: 2, categoryPercentage: 0.84, barPercentage: 0.92,
                };
            });
            const value = item => spec.series[item.datasetIndex].y[item.dataIndex];
            const nameScale = {
                grid: {display: false, borderColor: theme.line},
                ticks: {
                    color: theme.ink, autoSkip: false,
                    callback(at) { return wrapped(this.getLabelForValue(at), 2 * state.room); },
                },
            };
            return {
                type: 'bar', zeros: range.zeros,
                data: {labels: spec.categories, datasets},
                options: {
                    ...common(theme, items => items.length ? items[0].label : '',
                        item => ` ${item.dataset.label}: ${exact(axis, value(item))}`),
                    indexAxis: 'y', interaction: {mode: 'index', axis: 'y', intersect: false},
                    layout: {padding: {right: 52}},
                    scales: {x: scaleOf(axis, range, theme, Math.min(5, state.room)), y: nameScale},
                },
                plugins: [barLabels(theme, axis, spec.series.map(each => each.y))],
            };
        },
    };
    // A long name in two or three lines, broken after _ - or a blank.
    const wrapped = (name, width) => {
        const lines = [''];
        for (const part of name.split(/(?<=[_\-\s])/)) {
            if (lines[lines.length - 1].length + part.length > width && lines[lines.length - 1] !== '') lines.push('');
            lines[lines.length - 1] += part;
        }
        return lines.length > 1 ? lines.slice(0, 3) : name;
    };

    // ---- the row above a chart: its legend, and the switch between logarithmic and linear ----
    const svg = (name, attributes) => {
        const made = document.createElementNS('http://www.w3.org/2000/svg', name);
        for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
        return made;
    };
    const markShape = (mark, x, y, fill) => {
        const path = {
            rect: `M${x - 3.5} ${y - 3.5}h7v7h-7z`, triangle: `M${x} ${y - 4.5}l4.5 8h-9z`,
            rectRot: `M${x} ${y - 5}l5 5l-5 5l-5-5z`, crossRot: `M${x - 4} ${y - 4}l8 8m0-8l-8 8`,
            star: `M${x - 4} ${y - 4}l8 8m0-8l-8 8M${x - 5} ${y}h10M${x} ${y - 5}v10`,
        }[mark];
        return path ? svg('path', {d: path, fill, stroke: fill, 'stroke-width': 2}) :
            svg('circle', {cx: x, cy: y, r: 4, fill});
    };
    const sample = (kind, look) => {
        const wide = kind === 'line' ? 30 : 14;
        const drawn = svg('svg', {width: wide, height: 14, 'aria-hidden': 'true'});
        if (kind === 'line') {
            drawn.append(svg('line', {
                x1: 0, x2: wide, y1: 7, y2: 7, stroke: look.colour, 'stroke-width': look.strong ? 3.5 : 2,
                'stroke-dasharray': look.dash.join(' '),
            }));
        }
        drawn.append(kind === 'bar' ?
            svg('rect', {
                x: 2, y: 2, width: 10, height: 10, rx: 2, fill: look.colour, 'fill-opacity': look.hollow ? 0.2 : 1,
                stroke: look.colour, 'stroke-width': 2,
            }) :
            markShape(look.mark, wide / 2, 7, look.colour));
        return drawn;
    };
    const drawTools = (figure, spec, state, chart, redraw) => {
        const tools = figure.querySelector('.tools');
        tools.replaceChildren();
        spec.series.forEach((each, index) => {
            const button = document.createElement('button');
            const set = chart.data.datasets[index];
            const look = spec.kind === 'bar' ? {colour: set.borderColor, hollow: set.borderWidth > 0} : lookOf(each.name);
            button.type = 'button';
            button.className = 'key';
            button.title = 'show or hide';
            button.setAttribute('aria-pressed', String(!state.hidden.has(each.name)));
            button.append(sample(spec.kind, look), each.name);
            button.addEventListener('click', () => {
                if (!state.hidden.delete(each.name)) state.hidden.add(each.name);
                button.setAttribute('aria-pressed', String(!state.hidden.has(each.name)));
                chart.setDatasetVisibility(index, !state.hidden.has(each.name));
                chart.update();
            });
            tools.append(button);
        });
        figure.querySelector('.scale')?.remove();
        if (!(spec.y_axis ?? spec.value_axis).log) return;
        const scale = document.createElement('span');
        scale.className = 'scale';
        scale.setAttribute('role', 'group');
        scale.setAttribute('aria-label', 'scale');
        for (const [text, linear] of [['log', false], ['linear', true]]) {
            const button = document.createElement('button');
            button.type = 'button';
            button.textContent = text;
            button.setAttribute('aria-pressed', String(state.linear === linear));
            button.addEventListener('click', () => {
                state.linear = linear;
                redraw();
                figure.querySelector('.scale [aria-pressed="true"]').focus();
            });
            scale.append(button);
        }
        figure.querySelector('h3').after(scale);
    };

    // ---- all charts ----
    const themeNow = () => ({
        ink: colour('--ink'), muted: colour('--muted'), line: colour('--line'), grid: colour('--grid'),
        card: colour('--card'),
        grades: [0, 1, 2].map(grade => colour(`--grade-${grade}`)),
    });
    const drawn = [];
    const draw = one => {
        const {figure, spec, state} = one;
        one.chart?.destroy();
        state.room = figure.clientWidth < 420 ? 4 : 8;
        const {zeros, ...config} = kinds[spec.kind](spec, state, themeNow());
        figure.querySelector('.zeros')?.remove();
        if (zeros) {
            const note = document.createElement('p');
            note.className = 'zeros';
            note.textContent = 'Zeros are drawn at the foot of the logarithmic axis.';
            figure.querySelector('figcaption').append(note);
        }
        const told = {id: 'told', afterDraw: () => { figure.dataset.drawn = 'true'; }};
        one.chart = new Chart(figure.querySelector('canvas'), {...config, plugins: [...config.plugins ?? [], told]});
        drawTools(figure, spec, state, one.chart, () => draw(one));
    };
    const drawAll = () => drawn.forEach(draw);

    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.font.size = 12;
    const specs = [...document.querySelectorAll('figure.chart')].map(figure => ({
        figure, spec: JSON.parse(figure.querySelector('script').textContent), state: {hidden: new Set(), linear: false},
    }));
    for (const one of specs) {
        try {
            draw(one);
            drawn.push(one);
        } catch (failure) {
            console.error(failure);
            one.figure.querySelector('.plot').textContent = 'This chart could not be drawn.';
        }
    }
    root.dataset.charts = `${drawn.length}/${specs.length}`;

    // ---- heat maps: details of a cell on touch screens, which cannot hover ----
    for (const map of document.querySelectorAll('figure.heat')) {
        const told = map.querySelector('.detail');
        const tell = event => {
            const cell = event.target.closest?.('[title]');
            if (cell && map.contains(cell)) told.textContent = cell.title;
        };
        map.addEventListener('pointerover', tell);
        map.addEventListener('click', tell);
    }

    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
    // Paper is white, and has its own width.
    addEventListener('beforeprint', () => {
        root.classList.add('printing');
        drawAll();
        drawn.forEach(one => one.chart.resize());
    });
    addEventListener('afterprint', () => {
        root.classList.remove('printing');
        drawAll();
    });
})();
