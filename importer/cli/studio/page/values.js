// @ts-check
// The value table: what each text of a column means, for lists and for yes or no.

import { html, useId, useState } from './lib.js';
import { changes, emptyText, members, nameOf } from './rule.js';
import { patch } from './store.js';
import { count, number } from './words.js';

/** @typedef {import('./types.js').Distinct} Distinct */
/** @typedef {import('./types.js').Target} Target */

/** The choice that a text counts as empty; no option of a service can be this. */
const leaveEmpty = '\u0000empty';

/** @param {{target: Target, type: string, values: Distinct[], more: number}} props */
export function ValueTable({ target, type, values, more }) {
	const [chosen, setChosen] = useState(/** @type {Record<string, any>} */ ({}));
	const id = useId();
	const isCheckbox = type === 'Checkbox';
	const open = values.filter((v) => v.problem || v.warning);
	const rest = values.filter((v) => !v.problem && !v.warning);
	const left = open.filter((v) => chosen[v.text] === undefined).length;
	const n = Object.keys(chosen).length;
	const pick = (/** @type {string} */ text, /** @type {any} */ to) => setChosen((old) => {
		const { [text]: before, ...others } = old;
		return to === undefined ? others : { ...others, [text]: to };
	});
	const use = async () => {
		const empties = Object.keys(chosen).filter((text) => chosen[text] === leaveEmpty);
		const meant = Object.fromEntries(Object.entries(chosen).filter(([, to]) => to !== leaveEmpty));
		const rule = isCheckbox ? withWords(target, values, meant) : withValues(target, values, meant);
		const operations = [...(Object.keys(meant).length ? changes(target, rule) : []), ...empties.map(emptyText)];
		if (await patch(`${nameOf(target)}: ${count(n, 'text')} explained`, operations)) setChosen({});
	};
	const table = (/** @type {Distinct[]} */ list, /** @type {string} */ caption) => html`<table class="rows">
		<caption class="hidden">${caption}</caption>
		<thead><tr><th scope="col">In the sheet</th><th scope="col" class="num">Rows</th><th scope="col">Means</th></tr></thead>
		<tbody>${list.map((v) => html`<tr key=${v.text}><td class="cell">${v.text}</td><td class="num">${number(v.count)}</td>
			<td><${Meaning} target=${target} isCheckbox=${isCheckbox} offers=${id} value=${v} chosen=${chosen[v.text]}
			onPick=${(/** @type {any} */ to) => pick(v.text, to)} /></td></tr>`)}</tbody></table>`;
	return html`<section class="values">
		<h3>What the texts mean <span class="faint">
		${open.length ? html`<span class="bad-text">${count(open.length, 'text')} not matched</span>` : 'all matched'}</span></h3>
		${open.length > 0 && table(open, 'Texts that are not matched')}
		${n > 0 && html`<div class="actions">
			<button type="button" class="main" onClick=${use}>${n === 1 ? 'Use it' : `Use these ${number(n)}`}</button>
			<button type="button" onClick=${() => setChosen({})}>Put back</button>
			${left > 0 && html`<span class="faint">${number(left)} still open</span>`}</div>`}
		${rest.length > 0 && html`<details open=${!open.length && rest.length <= 12 && !target.options}>
			<summary>${count(rest.length, 'text')} matched</summary>${table(rest, 'Texts that are matched')}</details>`}
		${!target.options && !isCheckbox
			&& html`<datalist id=${id}>${[...new Set(rest.map((v) => v.to))].map((to) => html`<option value=${to}></option>`)}</datalist>`}
		${more > 0 && html`<p class="warn-text">
			${count(more, 'more text')} in this column ${more === 1 ? 'is' : 'are'} not shown. This many different texts do not look like a list.</p>`}
	</section>`;
}

/** @param {{target: Target, isCheckbox: boolean, offers: string, value: Distinct, chosen: any, onPick: (to: any) => void}} props */
function Meaning({ target, isCheckbox, offers, value: v, chosen, onPick }) {
	const [typed, setTyped] = useState(/** @type {string|null} */ (null));
	const label = `“${v.text}” means`;
	const now = v.problem || v.warning ? '' : JSON.stringify(isCheckbox ? v.to === 'true' : v.to);
	const options = isCheckbox ? [[true, 'Yes, ticked'], [false, 'No, not ticked']] : (target.options || []).map((o) => [o, o]);
	const type = (/** @type {any} */ e) => { setTyped(e.target.value); onPick(e.target.value || undefined); };
	if (!options.length) return html`<input aria-label=${label} list=${offers} value=${typed ?? chosen ?? v.to ?? ''} onInput=${type}
		onBlur=${() => setTyped(null)} />`;
	return html`<select aria-label=${label} class=${chosen !== undefined ? 'touched' : now === '' ? 'open' : ''}
		value=${chosen === undefined ? now : JSON.stringify(chosen)}
		onChange=${(/** @type {any} */ e) => onPick(e.target.value === now ? undefined : JSON.parse(e.target.value))}>
		${now === '' && html`<option value="">${v.warning ? 'sent as it is' : 'not decided'}</option>`}
		${options.map(([to, words]) => html`<option value=${JSON.stringify(to)}>${words}</option>`)}
		<option value=${JSON.stringify(leaveEmpty)}>Leave empty (in every column)</option>
	</select>`;
}

/** The rule with a table that lists the chosen meanings beside what is understood already.
 * @param {Target} target @param {Distinct[]} values @param {Record<string, any>} meant */
function withValues(target, values, meant) {
	const all = members(target.rule);
	const table = { ...(all.values || Object.fromEntries(values.filter((v) => !v.problem && v.to !== null).map((v) => [v.text, v.to]))), ...meant };
	return { ...all, values: table };
}

/** The rule with the words for yes and for no. @param {Target} target @param {Distinct[]} values @param {Record<string, any>} meant */
function withWords(target, values, meant) {
	const all = members(target.rule);
	const wordsFor = (/** @type {boolean} */ to, /** @type {string[]|undefined} */ known) => {
		const understood = known || values.filter((v) => !v.problem && v.to === String(to)).map((v) => v.text);
		return [...new Set([...understood.filter((t) => !(t in meant)), ...Object.keys(meant).filter((t) => meant[t] === to)])];
	};
	const checked = wordsFor(true, all.checked), unchecked = wordsFor(false, all.unchecked);
	return { ...all, ...(checked.length && { checked }), ...(unchecked.length && { unchecked }) };
}
