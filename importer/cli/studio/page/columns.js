// @ts-check
// The columns of the sheet: what is in each, where it goes, and the verdict over all its cells.

import { ColumnPanel } from './column.js';
import { html, useState } from './lib.js';
import { nameOf } from './rule.js';
import { go, link, route, stay } from './route.js';
import { ignore, state, suggestions, targetsByPath } from './store.js';
import { Suggested, AcceptAll } from './suggestions.js';
import { Act, arrows, Choice, Chip, Filled, Verdict } from './ui.js';
import { count, number } from './words.js';

/** @typedef {import('./types.js').Column} Column */

/** A column that is not decided yet. @param {Column} c */
const isOpen = (c) => !c.targets.length && !c.ignored && c.filled > 0;

/** @type {[string, string, (c: Column) => boolean][]} */
const filters = [
	['all', 'All', () => true],
	['open', 'Not decided', isOpen],
	['errors', 'With errors', (c) => c.errors > 0],
	['out', 'Left out', (c) => c.ignored],
	['confirm', 'To confirm', (c) => suggestions.value.some((s) => s.column === c.letter && !s.sure)],
];

export function Columns() {
	const { columns, judgement, sheets } = /** @type {import('./types.js').State} */ (state.value);
	const { at, show = 'all' } = route.value.query;
	const [text, setText] = useState('');
	const fits = filters.find(([name]) => name === show)?.[2] || (() => true);
	const says = (/** @type {Column} */ c) => `${c.letter} ${c.header} ${c.samples.join(' ')}`.toLowerCase().includes(text.toLowerCase());
	const shown = columns.filter((c) => fits(c) && says(c));
	const chosen = columns.find((c) => c.letter === at);
	return html`<div class=${chosen ? 'split' : ''}>
		<section class="list" aria-labelledby="view-title">
			<header class="tools">
				<h1 id="view-title">Columns <span class="faint">of ${sheets[0]?.name || 'the sheet'}, ${count(judgement.rows, 'row')}</span></h1>
				<${Choice} label="Which columns" value=${show}
					onPick=${(/** @type {string} */ name) => stay('columns', { at, show: name === 'all' ? '' : name })}
					options=${filters.map(([name, words, has]) => [name, words, columns.filter(has).length])} />
				<label class="find"><span class="hidden">Find a column</span>
					<input type="search" placeholder="Find a column" value=${text} data-find
					onInput=${(/** @type {any} */ e) => setText(e.target.value)} /></label>
				<${AcceptAll} />
			</header>
			<div class="scroll"><table class="rows columns" onKeyDown=${arrows('th a')}>
				<caption class="hidden">Columns; the arrow keys move from one to the next, Enter opens the details</caption>
				<thead><tr><th scope="col" class="letter"><span class="hidden">Letter</span></th><th scope="col">Header</th>
					<th scope="col" class="samples">In the cells</th><th scope="col" class="fill">Filled</th>
					<th scope="col" class="num">Different</th><th scope="col">Goes to</th><th scope="col">Over all rows</th></tr></thead>
				<tbody>${shown.map((c) => html`<${ColumnRow} key=${c.letter} column=${c} chosen=${c.letter === at} show=${show}
					rows=${judgement.rows} />`)}</tbody>
			</table>
			${!shown.length && html`<p class="nothing">${show === 'open' ? 'Every column is decided.' : 'No column fits.'}</p>`}</div>
		</section>
		${chosen && html`<${ColumnPanel} key=${chosen.letter} column=${chosen}
			onClose=${() => { stay('columns', { show: show === 'all' ? '' : show }); focusRow(chosen.letter); }} />`}
	</div>`;
}

/** Gives the focus back to the row that was open. @param {string} letter */
const focusRow = (letter) => requestAnimationFrame(() => /** @type {HTMLElement|null} */ (document.querySelector(`[data-column="${letter}"] th a`))?.focus());

/** @param {{column: Column, chosen: boolean, show: string, rows: number}} props */
function ColumnRow({ column: c, chosen, show, rows }) {
	const query = { at: c.letter, show: show === 'all' ? '' : show };
	const open = (/** @type {Event} */ e) => { if (!/** @type {Element} */ (e.target).closest('a, button')) go('columns', query); };
	return html`<tr data-column=${c.letter} class=${(chosen ? 'chosen ' : '') + (c.ignored || !c.filled ? 'out' : '')} onClick=${open}>
		<td class="letter code">${c.letter}</td>
		<th scope="row"><a href=${link('columns', query)} aria-current=${chosen ? 'true' : undefined}>
			${c.header || html`<i>no header</i>`}</a>
			${c.shared && html` <${Chip} kind="warn">stands twice<//>`}</th>
		<td class="samples">${c.samples.slice(0, 3).map((s) => html`<q class="cell">${s}</q> `)}</td>
		<td class="fill"><${Filled} filled=${c.filled} rows=${rows} /></td>
		<td class="num">${c.filled ? number(c.distinct) + (c.distinctMore ? '+' : '') : ''}</td>
		<td class="goes"><${Goes} column=${c} /></td>
		<td class="over">${c.targets.length > 0 && html`<${Verdict} ...${c} />`}</td>
	</tr>`;
}

/** Where the column goes: its targets, each place that is suggested, or the choice to leave it out. @param {{column: Column}} props */
function Goes({ column: c }) {
	const offered = suggestions.value.filter((s) => s.column === c.letter);
	if (c.targets.length) {
		return c.targets.map((path, i) => {
			const target = targetsByPath.value.get(path);
			return html`${i > 0 && ', '}<a href=${link('targets', { at: path })}>${target ? nameOf(target) : path}</a>`;
		});
	}
	if (offered.length) return offered.map((s) => html`<div key=${s.path}><${Suggested} suggestion=${s} /></div>`);
	if (c.ignored) return html`<span class="faint">left out on purpose</span>`;
	if (!c.filled) return html`<span class="faint">empty</span>`;
	return html`<span class="faint">nowhere yet</span> <${Act} quiet=${true} onAct=${() => ignore(c.letter, true)}
		label=${`Leave out column ${c.letter}, ${c.header}`}>Leave out<//>`;
}

