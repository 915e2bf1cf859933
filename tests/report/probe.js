// Inspects a page from inside, for tests/report/browser_test.cpp. The browser runs it before any script of the page, so
// it sees everything; the test then calls genistaProbe.look() and the other functions.
'use strict';
(() => {
    const violations = [];
    document.addEventListener('securitypolicyviolation', event => violations.push(event.blockedURI));

    // "#rrggbb" or "rgb(...)" as numbers.
    const parsed = text => {
        if (text.startsWith('#')) return [...[1, 3, 5].map(at => parseInt(text.slice(at, at + 2), 16)), 1];
        const numbers = (text.match(/[\d.]+/g) ?? []).map(Number);
        return [...numbers.slice(0, 3), numbers[3] ?? 1];
    };
    const near = (data, at, colour) => data[at + 3] > 200 &&
        [0, 1, 2].every(i => Math.abs(data[at + i] - colour[i]) <= 12);

    // Pixels of a canvas that are not transparent, and for each series those in its own colour.
    const pixels = canvas => {
        // Read from a copy: reading the canvas itself would change how the browser stores it.
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true});
        copy.drawImage(canvas, 0, 0);
        const {data} = copy.getImageData(0, 0, canvas.width, canvas.height);
        const chart = Chart.getChart(canvas);
        const colours = chart.data.datasets.map(set => parsed(set.borderColor ?? set.backgroundColor));
        const count = {inked: 0, series: colours.map(() => 0)};
        for (let at = 0; at < data.length; at += 4) {
            if (data[at + 3] > 0) ++count.inked;
            colours.forEach((colour, index) => { if (near(data, at, colour)) ++count.series[index]; });
        }
        return count;
    };
    const chartSeen = figure => {
        const canvas = figure.querySelector('canvas'), chart = Chart.getChart(canvas);
        const box = canvas.getBoundingClientRect();
        return {
            id: figure.id, title: figure.querySelector('h3').textContent, drawn: figure.dataset.drawn === 'true',
            width: box.width, height: box.height, role: canvas.getAttribute('role'),
            label: canvas.getAttribute('aria-label'),
            error_bars: chart.errorBars ?? 0, type: chart.config.type, categories: chart.data.labels ?? [], pixels: pixels(canvas),
            keys: [...figure.querySelectorAll('.key')].map(key => key.textContent),
            series: chart.data.datasets.map(set => ({
                name: set.label, dash: set.borderDash ?? [], mark: set.pointStyle,
                colour: set.borderColor ?? set.backgroundColor,
                data: set.data.map(value => typeof value === 'object' ? [value.x, value.y] : value),
            })),
        };
    };
    const tableSeen = table => ({
        title: table.caption?.textContent ?? '', scopes: [...table.querySelectorAll('th')].every(cell => cell.scope !== ''),
        head: [...table.tHead.rows[0].cells].map(cell => cell.textContent),
        rows: [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent)),
    });

    const heatSeen = map => ({
        title: map.querySelector('h3').textContent, table: tableSeen(map.querySelector('table')),
        legend: [...map.querySelectorAll('.legend li')].map(mark => mark.textContent),
        colours: [...map.querySelectorAll('tbody td')].map(cell => getComputedStyle(cell).backgroundColor),
        classes: [...map.querySelectorAll('tbody td')].map(cell => cell.className),
        details: [...map.querySelectorAll('tbody td')].map(cell => {
            cell.click();
            return map.querySelector('.detail').textContent;
        }),
    });

    // The ratio of WCAG between a text and the first opaque background behind it.
    const luminance = colour => {
        const [r, g, b] = colour.map(part => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const contrast = element => {
        let behind = element;
        while (behind && parsed(getComputedStyle(behind).backgroundColor)[3] < 1) behind = behind.parentElement;
        const ground = behind ? parsed(getComputedStyle(behind).backgroundColor) : [255, 255, 255, 1];
        const ink = parsed(getComputedStyle(element).color);
        const [low, high] = [ink, ground].map(each => luminance(each.slice(0, 3))).sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
    };
    const described = element => `${element.tagName} ${element.className} ${element.textContent.slice(0, 40)}`;

    const look = () => {
        const texts = [...document.querySelectorAll('h1, h2, h3, p, dt, dd, th, td, td b, td span, li, caption, button, code')];
        // Elements wider than the window, except inside boxes that scroll.
        const wide = [...document.body.querySelectorAll('*')].filter(
            element => !element.closest('.table-box table, .code pre code') &&
                element.getBoundingClientRect().right > innerWidth + 0.5);
        return {
            violations, width: innerWidth, scroll_width: document.documentElement.scrollWidth,
            dark: matchMedia('(prefers-color-scheme: dark)').matches, title: document.title,
            background: getComputedStyle(document.body).backgroundColor,
            headings: ['h1', 'h2', 'h3'].map(name => document.querySelectorAll(name).length),
            lead: document.querySelector('.lead')?.textContent ?? '',
            charts_line: document.documentElement.dataset.charts,
            warning: document.querySelector('.warning')?.textContent ?? '',
            elements: document.querySelectorAll('img, iframe').length,
            facts: [...document.querySelectorAll('.tile')].map(
                tile => [...tile.children].map(part => part.textContent)),
            charts: [...document.querySelectorAll('figure.chart')].map(chartSeen),
            tables: [...document.querySelectorAll('table')].map(tableSeen),
            heats: [...document.querySelectorAll('figure.heat')].map(heatSeen),
            faint: texts.filter(element => element.textContent.trim() !== '' && contrast(element) < 4.5).map(described),
            small: [...document.querySelectorAll('button')].filter(
                button => button.getBoundingClientRect().height < 24).map(described),
            wide: wide.map(described), handlers: document.querySelectorAll('[onclick], [onload], [onerror]').length,
            data: document.getElementById('data')?.textContent ?? '',
        };
    };

    // The actions of a reader: hides a series, changes the scale.
    const touch = () => {
        const figure = document.querySelector('figure.chart'), canvas = figure.querySelector('canvas');
        const key = figure.querySelector('.key'), seen = {};
        const scales = () => Object.values(Chart.getChart(canvas).scales).map(scale => scale.type).sort();
        key.click();
        seen.hidden_pressed = key.getAttribute('aria-pressed');
        seen.hidden_visible = Chart.getChart(canvas).isDatasetVisible(0);
        key.click();
        seen.shown_visible = Chart.getChart(canvas).isDatasetVisible(0);
        seen.scales_before = scales();
        figure.querySelector('.scale button[aria-pressed="false"]').click();
        seen.scales_after = scales();
        return seen;
    };

    // Waits until a condition holds. Returns whether it did.
    const until = async (holds, seconds = 10) => {
        for (let tries = 0; tries < 50 * seconds && !holds(); ++tries) await new Promise(done => setTimeout(done, 20));
        return holds();
    };
    // Every canvas is as wide as the box it is in.
    const settled = () => [...document.querySelectorAll('canvas')].every(
        canvas => Math.abs(canvas.getBoundingClientRect().width - canvas.parentElement.clientWidth) < 1);
    const colours = () => [...document.querySelectorAll('canvas')].map(
        canvas => Chart.getChart(canvas).data.datasets.map(set => set.borderColor ?? set.backgroundColor));

    globalThis.genistaProbe = {look, touch, until, settled, colours};
})();
