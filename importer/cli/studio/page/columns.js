// @ts-check
// The columns of the sheet: what is in each, where it goes, and the verdict over all its cells; and one of them in detail.

import { RuleEditor } from './editor.js';
import { columnName, Picker } from './fields.js';
import { html, useState } from './lib.js';
import { link } from './route.js';
import { changes } from './rule.js';
import { current, ignore, patch, targetAt } from './store.js';
import { AcceptAll, Reasons, Suggested } from './suggestions.js';
import { Act, arrows, Bar, Chip, listOf, Panel, Verdict, View } from './ui.js';
import { count, number, percent, typeName } from './words.js';

/** @typedef {import('./types.js').Column} Column */

/** @type {[string, string, (c: Column) => boolean][]} */
const filters = [
	['all', 'All', () => true],
	['open', 'Not decided', (c) => !c.targets.length && !c.ignored && c.filled > 0],
	['errors', 'With errors', (c) => c.errors > 0],
	['out', 'Left out', (c) => c.ignored],
	['confirm', 'To confirm', (c) => current().suggestions.some((s) => s.column === c.letter && !s.sure)],
];

export function Columns() {
	const { columns, judgement, sheet } = current();
	const list = listOf('columns', columns, filters), chosen = columns.find((c) => c.letter === list.at);
	const others = sheet.others ? `, the first of ${number(sheet.others + 1)} sheets` : '';
	return html`<${View} title="Columns" of=${`of ${sheet.name || 'the sheet'}${others}, ${count(judgement.rows, 'row')}`}
		tools=${html`${list.filter}<${AcceptAll} />`}
		details=${chosen && html`<${ColumnPanel} key=${chosen.letter} column=${chosen} onClose=${list.close} />`}>
		<div class="scroll"><table class="rows columns" onKeyDown=${arrows('th a')}>
			<caption class="hidden">Columns; the arrow keys move from one to the next, Enter opens the details</caption>
			<thead><tr><th scope="col" class="letter"><span class="hidden">Letter</span></th><th scope="col">Header</th>
				<th scope="col" class="samples">In the cells</th><th scope="col" class="fill">Filled</th>
				<th scope="col" class="num">Different</th><th scope="col">Goes to</th><th scope="col">Over all rows</th></tr></thead>
			<tbody>${list.shown.map((c) => html`<tr key=${c.letter} data-column=${c.letter} onClick=${list.open(c.letter)}
				class=${(c === chosen ? 'chosen ' : '') + (c.ignored || !c.filled ? 'out' : '')}>
				<td class="letter code">${c.letter}</td>
				<th scope="row"><a href=${list.address(c.letter)} aria-current=${c === chosen ? 'true' : undefined}>${c.header || html`<i>no header</i>`}</a>
					${c.shared && html` <${Chip} kind="warn">same header twice<//>`}</th>
				<td class="samples">${c.samples.slice(0, 3).map((s) => html`<q class="cell">${s}</q> `)}</td>
				<td class="fill"><span class="filled"><${Bar} whole=${judgement.rows} parts=${[['plain', c.filled]]} />
					<span>${percent(c.filled, judgement.rows)}</span></span></td>
				<td class="num">${c.filled ? number(c.distinct) + (c.distinctMore ? '+' : '') : ''}</td>
				<td class="goes"><${Goes} column=${c} /></td>
				<td class="over">${c.targets.length > 0 && html`<${Verdict} ...${c} />`}</td>
			</tr>`)}</tbody>
		</table>
		${!list.shown.length && html`<p class="nothing">${list.show === 'open' ? 'Every column is decided.' : 'No column fits.'}</p>`}</div>
	<//>`;
}

/** Where the column goes: its targets, each place that is suggested, or the choice to leave it out. @param {{column: Column}} props */
function Goes({ column: c }) {
	const offered = current().suggestions.filter((s) => s.column === c.letter);
	if (c.targets.length) return c.targets.map((at, i) => html`${i > 0 && ', '}<a href=${link('targets', { at })}>${targetAt(at)?.name}</a>`);
	if (offered.length) return offered.map((s) => html`<div key=${s.path}><${Suggested} suggestion=${s} /></div>`);
	if (c.ignored || !c.filled) return html`<span class="faint">${c.ignored ? 'left out on purpose' : 'empty'}</span>`;
	return html`<span class="faint">nowhere yet</span> <${Act} kind="quiet" onAct=${() => ignore(c.letter, true)}
		label=${`Leave out column ${c.letter}, ${c.header}`}>Leave out<//>`;
}

/** @param {{column: Column, onClose: () => void}} props */
function ColumnPanel({ column: c, onClose }) {
	const [at, setAt] = useState(/** @type {string|null} */ (null));
	const targets = c.targets.flatMap((path) => targetAt(path) || []);
	const open = (at === null ? targets.find((t) => t.errors > 0) || targets[0] : targetAt(at))?.path; // one of them is open at a time
	return html`<${Panel} about=${c.letter} title=${html`<span class="code">${c.letter}</span> ${c.header || 'No header'}`} onClose=${onClose}
		of=${`${percent(c.filled, current().judgement.rows)} filled, ${number(c.distinct)}${
			c.distinctMore ? ' or more' : ''} different ${c.distinct === 1 ? 'text' : 'texts'}`}>
		<p class="samples">${c.samples.map((s) => html`<q class="cell">${s}</q> `)}</p>
		<p class="places"><a href=${link('rows', { column: c.letter })}>See it in the rows</a>
			${c.errors > 0 && html`<a href=${link('rows', { column: c.letter, show: 'errors' })}>${count(c.errors, 'row')} with errors</a>`}</p>
		${c.shared && html`<p class="warn-text">Another column has the header “${c.header}” too; the mapping calls this one “${columnName(c)}”.</p>`}
		<${Reasons} list=${current().suggestions.filter((s) => s.column === c.letter)} />
		${targets.map((t) => html`<section key=${t.path} class="target-in-column">
			<h3><button type="button" class="fold" aria-expanded=${t.path === open ? 'true' : 'false'}
				onClick=${() => setAt(t.path === open ? '' : t.path)}>${t.name} <span class="faint">${typeName(t.type)}</span></button></h3>
			${t.path === open && html`<${RuleEditor} target=${t} />`}
		</section>`)}
		${c.header && html`<${SendTo} column=${c} onSent=${setAt} />`}
		${!targets.length && c.filled > 0 && html`<p><label class="check"><input type="checkbox" checked=${c.ignored}
			onChange=${(e) => ignore(c.letter, e.target.checked)} /> Leave this column out on purpose</label></p>`}
	<//>`;
}

/** Sends the column to one more target. @param {{column: Column, onSent: (path: string) => void}} props */
function SendTo({ column: c, onSent }) {
	const open = current().targets.filter((t) => ['value', 'columns', 'column'].includes(t.editor) && !c.targets.includes(t.path));
	const items = open.map((t) => ({ value: t.path, words: t.title, group: t.section, more: [typeName(t.type),
		t.required && t.rule === null && 'required', t.rule !== null && `now ${t.columns.join(', ') || 'set'}`].filter(Boolean).join(' · ') }));
	const send = async (path) => {
		const target = targetAt(path);
		if (!target || !await patch(`${target.name} ← ${columnName(c)}`, () => changes(target, columnName(c)))) return;
		onSent(path);
		requestAnimationFrame(() => /** @type {HTMLElement|null} */ (document.querySelector('.fold[aria-expanded=true]'))?.focus());
	};
	return html`<${Picker} label=${c.targets.length ? 'Send it also to' : 'Send it to'} items=${items} onPick=${send} />`;
}
