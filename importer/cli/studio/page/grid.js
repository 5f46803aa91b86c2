// @ts-check
// The rows of the sheet with marked cells. Only the rows and columns that can be seen are drawn and asked for, so that 300,000 rows
// scroll like 30. One cell has the focus (roving tabindex); the arrow keys move it.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from './lib.js';
import { Pages } from './pages.js';
import { go, link, route, stay } from './route.js';
import { isJudged, refuse, say, state } from './store.js';
import { Choice, SelectField } from './ui.js';
import { count, mistake, number } from './words.js';

const rowHeight = 28, cellWidth = 148, headHeight = 46, numberWidth = 84;
/** Browsers do not draw elements of any height; a longer sheet scrolls in larger steps. */
const tallest = 8_000_000;

export function Rows() {
	const { columns, judgement, sheets } = /** @type {import('./types.js').State} */ (state.value);
	const { show = 'all', column, code, row, table } = route.value.query;
	const filter = (/** @type {Record<string, string|undefined>} */ change) => stay('rows', { show, column, code, ...change });
	const isWarned = show === 'warned';
	const of = columns.find((c) => c.letter === column);
	const codes = isWarned ? of?.warnings || judgement.warnings : of?.problems || judgement.codes;
	return html`<section class="list" aria-labelledby="view-title">
		<header class="tools">
			<h1 id="view-title">Rows <span class="faint">of ${sheets.length > 1 ? count(sheets.length, 'sheet') : sheets[0]?.name || 'the sheet'}</span></h1>
			<${Choice} label="Which rows" value=${show}
				options=${[['all', 'All', judgement.rows], ['usable', 'Usable', judgement.usable], ['errors', 'With errors', judgement.errors],
					...(judgement.warnings.length ? [['warned', 'To look at']] : [])]}
				onPick=${(/** @type {string} */ s) => filter({ show: s, code: s === 'errors' && !isWarned ? code : undefined })} />
			<${SelectField} label="Column" inline=${true} value=${column || ''} onPick=${(/** @type {string} */ to) => filter({ column: to, code: undefined })}
				options=${[['', 'any'], ...columns.filter((c) => c.targets.length)
					.map((c) => [c.letter, `${c.letter} · ${c.header}${c.errors ? ` (${number(c.errors)})` : ''}`])]} />
			<${SelectField} label=${isWarned ? 'To look at' : 'Mistake'} inline=${true} value=${code || ''}
				onPick=${(/** @type {string} */ to) => filter({ code: to, show: to && !isWarned ? 'errors' : show })}
				options=${[['', 'any'], ...codes.map((c) => [c.code, `${mistake(c)} (${number(c.count)})`])]} />
		</header>
		<${Grid} key=${[show, column, code, row, table].join()} show=${show} column=${column} code=${code} wanted=${Number(row || 0)}
			table=${Number(table || 0)} />
	</section>`;
}

/** What is closed meanwhile needs no words. @param {any} error */
const refuseUnlessClosed = (error) => { if (error?.name !== 'AbortError') refuse(error); };

/** The rows of a filter. They are asked for again when the mapping or its verdict changes.
 * @param {{show: string, column?: string, code?: string, wanted: number, table: number}} props wanted is the number of the row to go to, in a table; 0 for none */
function Grid({ show, column, code, wanted, table }) {
	const now = /** @type {import('./types.js').State} */ (state.value);
	const done = isJudged.value;
	const tables = now.sheets.length, isWarned = show === 'warned';
	const [, redraw] = useState(0);
	const pages = useMemo(() => new Pages({ show, column, code }, () => redraw((n) => n + 1)), [show, column, code, now.version, done]);
	useEffect(() => () => pages.control.abort(), [pages]);
	const frame = useRef();
	const [view, setView] = useState({ top: 0, left: 0, width: 1200, height: 600 });
	const [cell, setCell] = useState(/** @type {{row: number, col: number, on?: import('./pages.js').Row}} */ ({ row: 0, col: Math.max(0, now.columns.findIndex((c) => c.letter === column)) }));
	const last = useRef(0);
	if (pages.total !== null) last.current = pages.total;
	const total = last.current;

	const visible = Math.max(1, Math.floor((view.height - headHeight) / rowHeight));
	const height = Math.min(tallest, total * rowHeight);
	const steps = Math.max(1, total - visible);
	const room = Math.max(1, height + headHeight - view.height);
	const first = Math.min(Math.max(0, total - visible), Math.round((view.top / room) * steps));
	const firstCol = Math.max(0, Math.floor(view.left / cellWidth)), cols = Math.ceil(view.width / cellWidth) + 1;
	const shownCols = now.columns.slice(firstCol, firstCol + cols);

	useEffect(() => { pages.want(first - 20, first + visible + 20); }, [pages, first, visible]);
	useLayoutEffect(() => {
		const measure = () => { const f = frame.current; if (f) setView({ top: f.scrollTop, left: f.scrollLeft, width: f.clientWidth, height: f.clientHeight }); };
		measure();
		const watch = new ResizeObserver(measure);
		watch.observe(frame.current);
		let asked = 0;
		const scrolled = () => { asked ||= requestAnimationFrame(() => { asked = 0; measure(); }); };
		frame.current.addEventListener('scroll', scrolled, { passive: true });
		return () => watch.disconnect();
	}, []);

	/** Scrolls so that a cell can be seen, and gives it the focus. @param {number} row @param {number} col @param {boolean} [focus] */
	const reveal = (row, col, focus = true) => {
		row = Math.max(0, Math.min(total - 1, row));
		col = Math.max(0, Math.min(now.columns.length - 1, col));
		const f = frame.current;
		if (row < first || row > first + visible - 2) f.scrollTop = (Math.max(0, row < first ? row : row - visible + 2) / steps) * room;
		const left = col * cellWidth;
		if (left < f.scrollLeft) f.scrollLeft = left;
		else if (left + cellWidth > f.scrollLeft + f.clientWidth - numberWidth) f.scrollLeft = left + cellWidth - f.clientWidth + numberWidth;
		setCell({ row, col });
		if (focus) wantsFocus.current = true;
	};
	const wantsFocus = useRef(false);
	useEffect(() => {
		const element = wantsFocus.current && frame.current.querySelector('.here');
		if (element) { element.focus({ preventScroll: true }); wantsFocus.current = false; }
	});

	const row = pages.row(cell.row);
	const here = useRef();
	here.current = { reveal, cell, pages }; // cell.on is its row while that is not asked for yet
	const isAsked = useRef(false);
	useEffect(() => { // a link leads to a row
		if (!wanted || pages.total === null || isAsked.current) return;
		isAsked.current = true;
		pages.find('all', { table, row: wanted }).then(({ place }) => here.current.reveal(place, here.current.cell.col), refuseUnlessClosed);
	});
	const before = useRef(Promise.resolve()); // quick hands press n several times
	const next = () => { before.current = before.current.then(toNext).catch(refuseUnlessClosed); };
	const toNext = async () => {
		const { pages, cell } = here.current;
		if (show === 'usable') return go('rows', { show: 'errors', column });
		const from = cell.on || pages.row(cell.row);
		if (!from && pages.total) return; // it is on its way
		const found = await pages.find(isWarned ? 'warned' : 'errors', from ? { table: from.table, row: from.row + 1 } : { table: 0, row: 0 });
		if (!found.row) return say(isWarned ? 'No row below this one has something to look at.' : 'No row below this one has errors.');
		const marks = /** @type {import('./types.js').Problem[]} */ (isWarned ? found.row.warnings : found.row.problems);
		const mark = marks.find((p) => (!column || p.column === column) && (!code || p.code === code));
		const marked = now.columns.findIndex((c) => c.letter === mark?.column);
		here.current.cell = { row: found.place, col: marked >= 0 ? marked : cell.col, on: found.row }; // the next press goes on from here
		const at = here.current.cell;
		here.current.reveal(at.row, at.col);
		setCell(at);
	};
	const key = (/** @type {KeyboardEvent} */ e) => {
		const { row: r, col: c } = cell, far = e.ctrlKey || e.metaKey;
		const to = /** @type {Record<string, [number, number]>} */ ({
			ArrowDown: [far ? total - 1 : r + 1, c], ArrowUp: [far ? 0 : r - 1, c], ArrowLeft: [r, far ? 0 : c - 1], ArrowRight: [r, far ? now.columns.length - 1 : c + 1],
			PageDown: [r + visible, c], PageUp: [r - visible, c], Home: [far ? 0 : r, 0], End: [far ? total - 1 : r, now.columns.length - 1],
		})[e.key];
		if (to) { e.preventDefault(); reveal(...to); }
		else if (e.key === 'n') { e.preventDefault(); next(); }
		else if (e.key === 'Enter' && row) go('client', { row: row.row, table: row.table || undefined });
	};

	const at = (/** @type {number} */ i) => ({ row: pages.row(first + i), place: first + i });
	const drawn = Array.from({ length: Math.max(0, Math.min(visible + 1, total - first)) }, (_, i) => at(i));
	const tabRow = drawn.some((d) => d.place === cell.row) ? cell.row : first;
	const tabCol = cell.col >= firstCol && cell.col < firstCol + cols ? cell.col : firstCol;
	return html`<div class="grid-frame" ref=${frame} role="grid" tabindex="-1" aria-label="Rows of the sheet" aria-rowcount=${total + 1}
		aria-colcount=${now.columns.length + 1} aria-readonly="true" onKeyDown=${key}>
			<div class="grid-room" role="presentation"
				style=${{ height: height + headHeight + 'px', width: numberWidth + now.columns.length * cellWidth + 'px' }}>
			<div class="grid-window" role="rowgroup" style=${{ height: Math.min(view.height, height + headHeight) + 'px' }}>
				<div class="grid-row head" role="row" aria-rowindex="1"><div class="grid-number" role="columnheader" aria-colindex="1">Row</div>
					<span class="grid-gap" style=${{ width: firstCol * cellWidth + 'px' }}></span>
					${shownCols.map((c, i) => html`<div key=${c.letter} role="columnheader" aria-colindex=${firstCol + i + 2}
						class=${'grid-cell' + (c.errors ? ' bad-head' : '') + (c.ignored ? ' out' : '')}>
						<span class="code">${c.letter}</span> <b>${c.header || 'no header'}</b></div>`)}</div>
				${drawn.map(({ row: r, place }) => html`<div key=${place % (visible + 2)}
					class=${'grid-row' + (place % 2 ? ' odd' : '') + (r?.problems.length ? ' bad-row' : r?.skipped ? ' out' : '')} role="row"
					aria-rowindex=${place + 2}>
					<div class="grid-number" role="rowheader" aria-colindex="1">${r ? number(r.row) : '…'}${r && tables > 1 && html`<span class="faint" title=${sheetName(r.table)}> ${r.table + 1}</span>`}</div>
						<span class="grid-gap" style=${{ width: firstCol * cellWidth + 'px' }}></span>
					${shownCols.map((c, i) => {
						const problem = r?.problems.find((p) => p.column === c.letter);
						const warned = r?.warnings.some((p) => p.column === c.letter);
						const isTab = place === tabRow && firstCol + i === tabCol;
						return html`<div key=${c.letter} role="gridcell" aria-colindex=${firstCol + i + 2} tabindex=${isTab ? 0 : -1}
							class=${'grid-cell' + (problem ? ' bad-cell' : warned ? ' warn-cell' : '') + (place === cell.row && firstCol + i === cell.col ? ' here' : '')}
							aria-invalid=${problem ? 'true' : undefined}
								onClick=${() => { setCell({ row: place, col: firstCol + i }); wantsFocus.current = true; }}>
								${r ? r.cells[firstCol + i] : ''}</div>`;
					})}</div>`)}
			</div></div>
			${pages.total === 0 && html`<p class="nothing">${show === 'errors' ? 'No row has errors.' : 'No row here.'}</p>`}
			${pages.error && html`<p class="bad-text nothing" role="alert">${pages.error.message}</p>`}
		</div>
		<${Details} row=${row} column=${now.columns[cell.col]} onNext=${next} total=${total} done=${done} isWarned=${isWarned} />`;
}

/** What the cell with the focus says, whole, and what is wrong with it.
 * @param {{row?: import('./pages.js').Row, column: import('./types.js').Column, onNext: () => void, total: number, done: boolean, isWarned: boolean}} props */
function Details({ row, column, onNext, total, done, isWarned }) {
	const now = /** @type {import('./types.js').State} */ (state.value);
	const problem = row?.problems.find((p) => p.column === column?.letter) || row?.problems.find((p) => !p.column);
	const warning = row?.warnings.find((p) => p.column === column?.letter);
	return html`<footer class="cell-details" aria-live="polite">
		<p class="cell-place">${row && column
			? html`<span class="code">${column.letter}${row.row}</span> ${now.sheets.length > 1 && html`<span class="faint">${sheetName(row.table)}</span> `}<q class="cell">
			${row.cells[now.columns.indexOf(column)] || ''}</q>` : count(total, 'row')}
			${problem && html` <span class="bad-text">${problem.message}</span> ${!problem.column && html`<span class="faint">${problem.hint}</span>`}`}
			${!problem && warning && html` <span class="warn-text">${warning.message}</span>`}
				${row?.skipped && html` <span class="faint">left out: ${row.skipped}</span>`}
				${!done && html` <span class="faint">still reading …</span>`}</p>
		<p class="actions">
			${(problem || warning) && column && html`<a href=${link('columns', { at: column.letter })}>Fix it for all rows</a>`}
			${row && html`<a href=${link('client', { row: row.row, table: row.table || undefined })}>What is sent for this client</a>`}
			<button type="button" data-again onClick=${onNext}>${isWarned ? 'Next to look at' : 'Next with errors'}</button>
		</p>
	</footer>`;
}

/** The name of a sheet among several. @param {number} table */
const sheetName = (table) => { const s = state.value?.sheets[table]; return s ? `${s.path}${s.name ? ` · ${s.name}` : ''}` : ''; };
