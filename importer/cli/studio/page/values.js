// @ts-check
// The value table: what each text of a column means, for lists and for yes or no. Texts that the sheet does not have today can be in it too.

import { html, useId, useState } from './lib.js';
import { valueChoices } from './reading.js';
import { changes, emptyText, members } from './rule.js';
import { patch, targetAt, usePending } from './store.js';
import { count, number } from './words.js';

/** @typedef {import('./types.js').Distinct} Distinct */
/** @typedef {import('./types.js').Target} Target */
/** @typedef {Map<string, any>} Meanings what is sent for each text, or one of the two choices below */

/** Choices that no option of a service can be: the text counts as empty; the text is taken out of the table. */
const leaveEmpty = '\u0000empty', takenOut = '\u0000out';

/** @param {{target: Target, type: string, values: Distinct[], more: number}} props */
export function ValueTable({ target, type, values, more }) {
	const [chosen, setChosen] = useState(/** @type {Meanings} */ (new Map()));
	const id = useId(), isCheckbox = type === 'Checkbox', options = valueChoices(target, type), listed = listedOf(target, isCheckbox);
	const isOpen = (v) => Boolean(v.problem || (target.options && v.to !== null && !target.options.includes(v.to)));
	const open = values.filter(isOpen), known = new Set(values.map((v) => keyOf(v.text, isCheckbox)));
	const others = [...listed].filter(([key]) => !known.has(key)).map(([, [text, to]]) => ({ text, count: 0, to: String(to), problem: null }));
	const rest = [...values.filter((v) => !isOpen(v)), ...others];
	const n = chosen.size, left = open.filter((v) => !chosen.has(v.text)).length;
	const pick = (text) => (to) => setChosen((old) => {
		const next = new Map(old).set(text, to);
		if (to === undefined) next.delete(text);
		return next;
	});
	const use = async () => {
		const done = await patch(`${target.name}: ${count(n, 'text')} explained`,
			() => operations(targetAt(target.path) || target, isCheckbox, values, chosen));
		if (done) setChosen((now) => new Map([...now].filter(([text, to]) => chosen.get(text) !== to)));
		return done;
	};
	usePending(n > 0, use);
	const table = (list, caption) => html`<table class="rows"><caption class="hidden">${caption}</caption>
		<thead><tr><th scope="col">In the sheet</th><th scope="col" class="num">Rows</th><th scope="col">Means</th></tr></thead>
		<tbody>${list.map((v) => html`<tr key=${v.text}><td class="cell">${v.text}</td><td class="num">${number(v.count)}</td>
			<td><${Meaning} options=${options} offers=${id} value=${v} isListed=${listed.has(keyOf(v.text, isCheckbox))} chosen=${chosen.get(v.text)}
				onPick=${pick(v.text)} onUse=${() => n > 0 && use()} /></td></tr>`)}</tbody></table>`;
	return html`<section class="values">
		<h3>What the texts mean <span class=${open.length ? 'bad-text' : 'faint'}>
			${open.length ? `${count(open.length, 'text')} not matched` : 'all matched'}</span></h3>
		${open.length > 0 && table(open, 'Texts that are not matched')}
		${n > 0 && html`<div class="actions"><button type="button" class="main" onClick=${use}>${n === 1 ? 'Use it' : `Use these ${number(n)}`}</button>
			<button type="button" onClick=${() => setChosen(new Map())}>Put back</button>
			${left > 0 && html`<span class="faint">${number(left)} still open</span>`}</div>`}
		${rest.length > 0 && html`<details open=${!open.length && rest.length <= 12 && !target.options}>
			<summary>${count(rest.length, 'text')} matched</summary>${table(rest, 'Texts that are matched')}</details>`}
		${!options.length && html`<datalist id=${id}>${[...new Set(rest.map((v) => v.to))].map((to) => html`<option value=${to}></option>`)}</datalist>`}
		${more > 0 && html`<p class="warn-text">${count(more, 'more text')} in this column ${more === 1 ? 'is' : 'are'} not shown.
			${' '}This many different texts do not look like a list.</p>`}
	</section>`;
}

/** @param {{options: [string, string][], offers: string, value: Distinct, isListed: boolean, chosen: any, onPick: (to: any) => void, onUse: () => any}} props
 * onPick with undefined takes the choice back */
function Meaning({ options, offers, value: v, isListed, chosen, onPick, onUse }) {
	const label = `“${v.text}” means`, isLeft = v.to === null && !v.problem && v.count > 0; // it counts as empty already
	const onEnter = (e) => { if (e.key === 'Enter' && !e.ctrlKey && !e.metaKey) { e.preventDefault(); onUse(); } };
	if (!options.length) {
		const was = v.to ?? '', isLeaving = chosen === leaveEmpty, said = isLeaving || chosen === takenOut ? '' : chosen ?? was;
		return html`<span class="meaning"><input aria-label=${label} list=${offers} value=${said} onKeyDown=${onEnter}
				placeholder=${chosen === takenOut ? 'not decided' : isLeaving || isLeft ? 'left empty' : undefined}
				onInput=${({ target: { value } }) => onPick(value === was ? undefined : value || (isListed ? takenOut : undefined))} />
			${v.problem && html`<button type="button" class="quiet" aria-pressed=${isLeaving ? 'true' : 'false'} aria-label=${`Leave empty: ${v.text}`}
				onClick=${() => onPick(isLeaving ? undefined : leaveEmpty)}>Leave empty</button>`}</span>`;
	}
	const isYesNo = options[0][0] === 'true';
	const now = v.problem || v.to === null ? '' : isYesNo ? v.to : JSON.stringify(v.to);
	const isOther = now !== '' && !options.some(([to]) => to === now);
	return html`<select aria-label=${label} class=${chosen !== undefined ? 'touched' : now === '' || isOther ? 'open' : ''}
		value=${chosen === undefined ? now : chosen === takenOut ? '' : JSON.stringify(chosen)}
		onChange=${({ target: { value } }) => onPick(value === now ? undefined : value === '' ? takenOut : JSON.parse(value))}>
		${(now === '' || isListed) && html`<option value="">${isLeft ? 'left empty' : 'not decided'}</option>`}
		${isOther && html`<option value=${now}>${v.to}, which the service does not list</option>`}
		${options.map(([to, words]) => html`<option value=${to}>${words}</option>`)}
		<option value=${JSON.stringify(leaveEmpty)}>Leave empty (in every column)</option>
	</select>`;
}

/** The key of a text in a table: upper and lower case are the same for yes and no. @param {string} text @param {boolean} isCheckbox */
const keyOf = (text, isCheckbox) => (isCheckbox ? text.toLowerCase() : text);

/** What the mapping lists for a target: each text with what is sent, by its key. @param {Target} target @param {boolean} isCheckbox
 * @returns {Map<string, [string, any]>} */
function listedOf(target, isCheckbox) {
	const { values, checked, unchecked } = members(target.rule); // any of them may be null, and a text may stand for a list of one
	const words = (list, to) => [list ?? []].flat().map((text) => [String(text), to]);
	const listed = isCheckbox ? [...words(checked, true), ...words(unchecked, false)] : Object.entries(values || {});
	return new Map(listed.map(([text, to]) => [keyOf(text, isCheckbox), [text, to]]));
}

/** What is to be changed for the chosen meanings: the rule lists them beside what is understood already.
 * @param {Target} target @param {boolean} isCheckbox @param {Distinct[]} values @param {Meanings} chosen */
function operations(target, isCheckbox, values, chosen) {
	const meant = [...chosen].filter(([, to]) => to !== leaveEmpty);
	const empties = [...chosen.keys()].filter((text) => chosen.get(text) === leaveEmpty);
	const table = listedOf(target, isCheckbox), understood = table.size ? [] : values.filter((v) => !v.problem && v.to !== null);
	for (const { text, to } of understood) table.set(keyOf(text, isCheckbox), [text, isCheckbox ? to === 'true' : to]);
	for (const [text, to] of meant) table.set(keyOf(text, isCheckbox), [text, to]);
	const pairs = [...table.values()].filter(([, to]) => to !== takenOut);
	const wordsFor = (/** @type {boolean} */ is) => pairs.filter(([, to]) => to === is).map(([text]) => text);
	const lists = isCheckbox ? { checked: wordsFor(true), unchecked: wordsFor(false) } : { values: Object.fromEntries(pairs) };
	const rule = Object.entries({ ...members(target.rule), ...lists }).filter(([name, is]) => !(name in lists) || Object.keys(is).length > 0);
	return [...(meant.length ? changes(target, Object.fromEntries(rule)) : []), ...empties.map(emptyText)];
}
