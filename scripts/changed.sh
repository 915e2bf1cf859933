# changed_files: the files of the change under test, one a line, relative to the root. Sourced by
# tests/house/headers_alone.sh, which compiles only the headers among them; `./test --long` compiles all.
#
# The change is what is not committed, and what was committed since
#   1. the commit that GENISTA_BASE names, if it is set;
#   2. else where this branch left origin/main, if it has left it;
#   3. else eight hours before the newest commit: on a fresh clone of main, the day's work.
# Without git, or without so old a commit, it is everything. Deleted files are left out.
changed_files() {
    local base='' head upstream
    if ! head=$(git rev-parse --quiet --verify HEAD 2>/dev/null); then
        find . -path ./build -prune -o -type f -print | sed 's|^\./||' | sort
        return
    fi
    if [ -n "${GENISTA_BASE-}" ]; then
        base=$(git rev-parse --quiet --verify "$GENISTA_BASE^{commit}") || {
            echo "genista: GENISTA_BASE '$GENISTA_BASE' is not a commit of this repository" >&2
            return 2
        }
    elif upstream=$(git merge-base HEAD origin/main 2>/dev/null) && [ "$upstream" != "$head" ]; then
        base=$upstream
    else
        base=$(git rev-list -1 --before="$(($(git show -s --format=%ct HEAD) - 8 * 3600))" HEAD)
    fi
    {
        if [ -n "$base" ]; then git diff --name-only --diff-filter=d "$base"; else git ls-files; fi
        git ls-files --others --exclude-standard
    } | sort -u
}
