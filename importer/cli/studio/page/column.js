// @ts-check
// One column in detail: its cells, where it goes, and how to fix what cannot be read.

import { html, useState } from './lib.js';
import { columnName, Picker } from './picker.js';
import { RuleEditor } from './editor.js';
import { changes, editorOf, nameOf } from './rule.js';
import { link } from './route.js';
import { ignore, patch, state, suggestions, targetAt, targetsByPath } from './store.js';
import { Reasons } from './suggestions.js';
import { Panel } from './ui.js';
import { count, groups, kinds, number, percent, typeName } from './words.js';

/** @typedef {import('./types.js').Column} Column */
/** @typedef {import('./types.js').Target} Target */

/** @param {{column: Column, onClose: () => void}} props */
export function ColumnPanel({ column: c, onClose }) {
	const { judgement } = /** @type {import('./types.js').State} */ (state.value);
	const targets = c.targets.map((path) => targetsByPath.value.get(path)).filter((t) => t !== undefined);
	const offered = suggestions.value.filter((s) => s.column === c.letter);
	const [at, setAt] = useState(/** @type {string|null} */ (null));
	return html`<${Panel} about=${c.letter} title=${html`<span class="code">${c.letter}</span> ${c.header || 'No header'}`}
		of=${holds(c, judgement.rows)} onClose=${onClose}>
		<p class="samples">${c.samples.map((s) => html`<q class="cell">${s}</q> `)}</p>
		<p class="places"><a href=${link('rows', { column: c.letter })}>See it in the rows</a>
			${c.errors > 0 && html`<a href=${link('rows', { column: c.letter, show: 'errors' })}>${count(c.errors, 'row')} with errors</a>`}
			${c.warnings.length > 0 && html`<a class="warn-text" href=${link('rows', { column: c.letter, show: 'warned' })}>${number(sum(c.warnings))} to look at</a>`}</p>
		${c.shared && html`<p class="warn-text">Another column has the header “${c.header}” too; the mapping calls this one “${columnName(c)}”.</p>`}
		<${Reasons} list=${offered} />
		<${ColumnTargets} targets=${targets} at=${at} onOpen=${setAt} />
		${c.header && html`<${SendTo} column=${c} first=${!targets.length} onSent=${setAt} />`}
		${!targets.length && c.filled > 0
			&& html`<p><label class="check">
			<input type="checkbox" checked=${c.ignored}
			onChange=${(/** @type {any} */ e) => ignore(c.letter, e.target.checked)} /> Leave this column out on purpose</label></p>`}
	<//>`;
}

/** @param {import('./types.js').CellErrors[]} list */
const sum = (list) => list.reduce((n, one) => n + one.count, 0);

/** What a column holds, in words. @param {Column} c @param {number} rows */
function holds(c, rows) {
	const distinct = `${number(c.distinct)}${c.distinctMore ? ' or more' : ''} different ${c.distinct === 1 ? 'text' : 'texts'}`;
	return `${kinds[c.kind] || c.kind}, ${percent(c.filled, rows)} filled, ${distinct}`;
}

/** The targets of a column; one is open at a time. @param {{targets: Target[], at: string|null, onOpen: (path: string) => void}} props */
function ColumnTargets({ targets, at, onOpen }) {
	const open = at ?? (targets.find((t) => (t.errors || 0) > 0) || targets[0])?.path;
	return targets.map((t) => html`<section key=${t.path} class="target-in-column">
		<h3><button type="button" class="fold" aria-expanded=${t.path === open ? 'true' : 'false'}
			data-target=${t.path} onClick=${() => onOpen(t.path === open ? '' : t.path)}>${nameOf(t)} <span class="faint">${typeName(t.type)}</span></button></h3>
		${t.path === open && html`<${RuleEditor} target=${t} />`}
	</section>`);
}

/** Sends the column to one more target. @param {{column: Column, first: boolean, onSent: (path: string) => void}} props */
function SendTo({ column: c, first, onSent }) {
	const takes = (/** @type {Target} */ t) => ['value', 'columns', 'column'].includes(editorOf(t)) && !c.targets.includes(t.path);
	const order = groups.map(([name]) => name);
	const items = (state.value?.targets || []).filter(takes)
		.sort((a, b) => order.indexOf(a.group) - order.indexOf(b.group))
		.map((t) => ({
			value: t.path, words: t.title, group: t.of || groups.find(([name]) => name === t.group)?.[1] || t.group,
			more: [typeName(t.type), t.required
				&& t.rule === null ? 'required' : '', t.rule !== null ? `now ${t.columns.join(', ') || 'set'}` : ''].filter(Boolean).join(' · '),
		}));
	const send = async (/** @type {string} */ path) => {
		const target = targetsByPath.value.get(path);
		if (!target || !await patch(`${nameOf(target)} ← ${columnName(c)}`, () => changes(target, columnName(c)))) return;
		const now = targetAt(path)?.path || path; // a new activity has its place now
		onSent(now);
		requestAnimationFrame(() => /** @type {HTMLElement|null} */ (document.querySelector(`[data-target="${CSS.escape(now)}"]`))?.focus());
	};
	return html`<${Picker} label=${first ? 'Send it to' : 'Send it also to'} items=${items}
		placeholder="Type a part of the name" onPick=${send} />`;
}
