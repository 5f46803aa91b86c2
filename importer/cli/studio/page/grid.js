// @ts-check
// The rows of the sheet with marked cells. Only the rows and columns that can be seen are drawn and asked for, so that 300,000 rows
// scroll like 30. One cell has the focus (roving tabindex); the arrow keys move it.

import { get } from './api.js';
import { Field } from './fields.js';
import { html, useEffect, useLayoutEffect, useRef, useState } from './lib.js';
import { go, link, route, stay } from './route.js';
import { current, refuse, say } from './store.js';
import { Choice, useLoaded, View, Waiting } from './ui.js';
import { count, number } from './words.js';

/** @typedef {import('./types.js').Problem} Problem */
/** @typedef {{row: number, skipped?: string, cells: string[], problems: Problem[]}} Row */

const rowHeight = 28, cellWidth = 148, headHeight = 46, numberWidth = 84;

export function Rows() {
	const { columns, judgement, sheet } = current();
	const { show = 'all', column, code, row } = route.value.query;
	const filter = (change) => stay('rows', { show, column, code, ...change });
	const codes = columns.find((c) => c.letter === column)?.problems || judgement.codes;
	const shows = [['all', 'All', judgement.rows], ['usable', 'Usable', judgement.usable], ['errors', 'With errors', judgement.errors]];
	return html`<${View} title="Rows" of=${`of ${sheet.name || 'the sheet'}`} tools=${html`
		<${Choice} label="Which rows" value=${show} options=${shows}
			onPick=${(to) => filter({ show: to, code: to === 'errors' ? code : undefined })} />
		<${Field} label="Column" inline=${true} value=${column || ''} onValue=${(to) => filter({ column: to, code: undefined })}
			options=${[['', 'any'], ...columns.filter((c) => c.targets.length)
				.map((c) => [c.letter, `${c.letter} · ${c.header}${c.errors ? ` (${number(c.errors)})` : ''}`])]} />
		<${Field} label="Mistake" inline=${true} value=${code || ''}
			onValue=${(to) => filter({ code: to, show: to ? 'errors' : show })}
			options=${[['', 'any'], ...codes.map((c) => [c.code, `${c.message} (${number(c.count)})`])]} />`}>
		<${Grid} key=${[show, column, code, row].join()} show=${show} column=${column} code=${code} wanted=${Number(row || 0)} />
	<//>`;
}

/** The rows of a filter. They are asked for again when the mapping or its verdict changes. wanted is the row to go to; 0 for none.
 * @param {{show: string, column?: string, code?: string, wanted: number}} props */
function Grid({ show, column, code, wanted }) {
	const { columns, version, judgement } = current();
	const frame = useRef(), [view, setView] = useState({ top: 0, left: 0, width: 1200, height: 600 });
	const [cell, setCell] = useState({ row: 0, col: Math.max(0, columns.findIndex((c) => c.letter === column)) });
	const visible = Math.max(1, Math.floor((view.height - headHeight) / rowHeight)), first = Math.round(view.top / rowHeight);
	const firstCol = Math.max(0, Math.floor(view.left / cellWidth));
	const shownCols = columns.slice(firstCol, firstCol + Math.ceil(view.width / cellWidth) + 1);
	const from = Math.max(0, Math.floor(first / 100) - 1) * 100; // the rows that are asked for reach a hundred above and below those that are seen
	const asked = useLoaded((signal) => get('rows', { show, column, code, from, count: 300 }, signal),
		[show, column, code, from, version, judgement.complete]);
	const total = asked.answer?.total || 0, height = total * rowHeight + headHeight;
	const rowAt = (place) => /** @type {Row|undefined} */ (asked.answer?.rows[place - asked.answer.place]);
	useLayoutEffect(() => {
		const { current: f } = frame, measure = () => setView({ top: f.scrollTop, left: f.scrollLeft, width: f.clientWidth, height: f.clientHeight });
		measure();
		const watch = new ResizeObserver(measure);
		watch.observe(f);
		let asked = 0;
		f.addEventListener('scroll', () => { asked ||= requestAnimationFrame(() => { asked = 0; measure(); }); }, { passive: true });
		return () => watch.disconnect();
	}, []);

	const wantsFocus = useRef(false);
	useEffect(() => {
		const element = wantsFocus.current && frame.current.querySelector('.here');
		if (element) { element.focus({ preventScroll: true }); wantsFocus.current = false; }
	});
	/** Scrolls so that a cell can be seen, and gives it the focus. @param {number} row @param {number} col */
	const reveal = (row, col) => {
		if (!frame.current) return; // it is closed meanwhile
		row = Math.max(0, Math.min(total - 1, row));
		col = Math.max(0, Math.min(columns.length - 1, col));
		const f = frame.current, left = col * cellWidth;
		if (row < first || row > first + visible - 2) f.scrollTop = (row < first ? row : row - visible + 2) * rowHeight;
		f.scrollLeft = Math.max(left + cellWidth - f.clientWidth + numberWidth, Math.min(left, f.scrollLeft));
		setCell({ row, col });
		wantsFocus.current = true;
	};

	const row = rowAt(cell.row);
	const find = (what, from) => get('rows', { show, column, code, find: what, row: from, count: 1 });
	useEffect(() => { // a link leads to a row
		if (wanted && total) find('all', wanted).then(({ place }) => reveal(place, cell.col), refuse);
	}, [total > 0]);
	const toNext = async () => {
		if (show === 'usable') return go('rows', { show: 'errors', column });
		if (!row && total) return; // it is on its way
		const { place, rows: [found] } = await find('errors', row ? row.row + 1 : 0);
		if (!found) return say('No row below this one has errors.');
		const mark = found.problems.find((p) => (!column || p.column === column) && (!code || p.code === code));
		const marked = columns.findIndex((c) => c.letter === mark?.column);
		reveal(place, marked >= 0 ? marked : cell.col);
	};
	const next = () => { toNext().catch(refuse); };
	const key = (e) => {
		const { row: r, col: c } = cell, far = e.ctrlKey || e.metaKey, end = columns.length - 1;
		const to = /** @type {Record<string, [number, number]>} */ ({
			ArrowDown: [far ? total - 1 : r + 1, c], ArrowUp: [far ? 0 : r - 1, c], ArrowLeft: [r, far ? 0 : c - 1], ArrowRight: [r, far ? end : c + 1],
			PageDown: [r + visible, c], PageUp: [r - visible, c], Home: [far ? 0 : r, 0], End: [far ? total - 1 : r, end],
		})[e.key];
		if (e.key === 'Enter' && row) go('client', { row: row.row });
		if (!to && e.key !== 'n') return;
		e.preventDefault();
		if (to) reveal(...to);
		else next();
	};

	const places = Array.from({ length: Math.max(0, Math.min(visible + 1, total - first)) }, (_, i) => first + i);
	const tabRow = places.includes(cell.row) ? cell.row : first, tabCol = shownCols.includes(columns[cell.col]) ? cell.col : firstCol;
	const gap = () => html`<span class="grid-gap" style=${{ width: firstCol * cellWidth + 'px' }}></span>`;
	return html`<div class="grid-frame" ref=${frame} role="grid" tabindex="-1" aria-label="Rows of the sheet" aria-rowcount=${total + 1}
			aria-colcount=${columns.length + 1} aria-readonly="true" onKeyDown=${key}>
			<div class="grid-room" role="presentation" style=${{ height: height + 'px', width: numberWidth + columns.length * cellWidth + 'px' }}>
			<div class="grid-window" role="rowgroup" style=${{ height: Math.min(view.height, height) + 'px' }}>
				<div class="grid-row head" role="row" aria-rowindex="1"><div class="grid-number" role="columnheader" aria-colindex="1">Row</div>${gap()}
					${shownCols.map((c, i) => html`<div key=${c.letter} role="columnheader" aria-colindex=${firstCol + i + 2}
						class=${'grid-cell' + (c.errors ? ' bad-head' : '') + (c.ignored ? ' out' : '')}>
						<span class="code">${c.letter}</span> <b>${c.header || 'no header'}</b></div>`)}</div>
				${places.map((place) => {
					const r = rowAt(place);
					return html`<div key=${place % (visible + 2)} role="row" aria-rowindex=${place + 2}
						class=${'grid-row' + (place % 2 ? ' odd' : '') + (r?.problems.length ? ' bad-row' : r?.skipped ? ' out' : '')}>
						<div class="grid-number" role="rowheader" aria-colindex="1">${r ? number(r.row) : '…'}</div>${gap()}
						${shownCols.map((c, i) => {
							const col = firstCol + i, isAt = (p) => p.column === c.letter;
							const isWrong = r?.problems.some(isAt), mark = isWrong ? ' bad-cell' : '';
							return html`<div key=${c.letter} role="gridcell" aria-colindex=${col + 2} tabindex=${place === tabRow && col === tabCol ? 0 : -1}
								class=${'grid-cell' + mark + (place === cell.row && col === cell.col ? ' here' : '')} aria-invalid=${isWrong ? 'true' : undefined}
								onClick=${() => { setCell({ row: place, col }); wantsFocus.current = true; }}>${r?.cells[col]}</div>`;
						})}</div>`;
				})}
			</div></div>
			${asked.answer?.total === 0 && html`<p class="nothing">${show === 'errors' ? 'No row has errors.' : 'No row here.'}</p>`}
			${asked.error && html`<${Waiting} of=${asked} what="the rows" />`}
		</div>
		<${Details} row=${row} column=${columns[cell.col]} onNext=${next} total=${total} />`;
}

/** What the cell with the focus says, whole, and what is wrong with it.
 * @param {{row?: Row, column?: import('./types.js').Column, onNext: () => void, total: number}} props */
function Details({ row, column, onNext, total }) {
	const { columns, judgement } = current();
	const problem = row?.problems.find((p) => p.column === column?.letter) || row?.problems.find((p) => !p.column);
	return html`<footer class="cell-details" aria-live="polite">
		<p class="cell-place">${row && column
			? html`<span class="code">${column.letter}${row.row}</span> <q class="cell">${row.cells[columns.indexOf(column)]}</q>` : count(total, 'row')}
			${problem && html` <span class="bad-text">${problem.message}</span> ${!problem.column && html`<span class="faint">${problem.hint}</span>`}`}
			${row?.skipped && html` <span class="faint">left out: ${row.skipped}</span>`}
			${!judgement.complete && html` <span class="faint">still reading …</span>`}</p>
		<p class="actions">
			${problem && column && html`<a href=${link('columns', { at: column.letter })}>Fix it for all rows</a>`}
			${row && html`<a href=${link('client', { row: row.row })}>What is sent for this client</a>`}
			<button type="button" onClick=${onNext}>Next with errors</button>
		</p>
	</footer>`;
}
