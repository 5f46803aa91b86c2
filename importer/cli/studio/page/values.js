// @ts-check
// The value table: what each text of a column means, for lists and for yes or no. Texts that the sheet does not have today can be in it too.

import { html, useId, useState } from './lib.js';
import { usePending } from './pending.js';
import { valueChoices } from './reading.js';
import { changes, emptyText, members, nameOf } from './rule.js';
import { patch, targetAt } from './store.js';
import { onEnter } from './ui.js';
import { count, number } from './words.js';

/** @typedef {import('./types.js').Distinct} Distinct */
/** @typedef {import('./types.js').Target} Target */
/** @typedef {Map<string, any>} Meanings what is sent for each text, or one of the two choices below */

/** Choices that no option of a service can be: the text counts as empty; the text is taken out of the table. */
const leaveEmpty = '\u0000empty', takenOut = '\u0000out';

/** @param {{target: Target, type: string, values: Distinct[], more: number}} props */
export function ValueTable({ target, type, values, more }) {
	const [chosen, setChosen] = useState(/** @type {Meanings} */ (new Map()));
	const id = useId(), isCheckbox = type === 'Checkbox', options = valueChoices(target, type);
	const listed = listedOf(target, isCheckbox), known = values.map((v) => v.text);
	const isOpen = (v) => Boolean(v.problem || (target.options && v.to !== null && !target.options.includes(v.to)));
	const open = values.filter(isOpen);
	const others = [...new Set([...listed.keys(), ...chosen.keys()])].filter((text) => !(isCheckbox ? isIn(known, text) : known.includes(text)))
		.map((text) => ({ text, count: 0, to: listed.get(text) ?? null, problem: null }));
	const rest = [...values.filter((v) => !isOpen(v)), ...others];
	const n = chosen.size, left = open.filter((v) => !chosen.has(v.text)).length;
	const pick = (text) => (to) => setChosen((old) => {
		const next = new Map(old).set(text, to);
		if (to === undefined) next.delete(text);
		return next;
	});
	const use = async () => {
		const done = await patch(`${nameOf(target)}: ${count(n, 'text')} explained`,
			() => operations(targetAt(target.path) || target, isCheckbox, values, chosen));
		if (done) setChosen((now) => new Map([...now].filter(([text, to]) => chosen.get(text) !== to)));
		return done;
	};
	usePending(n > 0, use);
	const table = (list, caption) => html`<table class="rows"><caption class="hidden">${caption}</caption>
		<thead><tr><th scope="col">In the sheet</th><th scope="col" class="num">Rows</th><th scope="col">Means</th></tr></thead>
		<tbody>${list.map((v) => html`<tr key=${v.text}><td class="cell">${v.text}</td><td class="num">${number(v.count)}</td>
			<td><${Meaning} options=${options} offers=${id} value=${v} isListed=${listed.has(v.text)} chosen=${chosen.get(v.text)}
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
	if (!options.length) {
		const was = v.to ?? '', isLeaving = chosen === leaveEmpty, said = isLeaving || chosen === takenOut ? '' : chosen ?? was;
		return html`<span class="meaning"><input aria-label=${label} list=${offers} value=${said} onKeyDown=${onEnter(onUse)}
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

/** What the mapping lists for a target: texts with what is sent. @param {Target} target @param {boolean} isCheckbox @returns {Map<string, string>} */
function listedOf(target, isCheckbox) {
	const { values, checked, unchecked } = members(target.rule); // any of them may be null, and a text may stand for a list of one
	const listed = isCheckbox ? [...asList(checked).map((text) => [text, true]), ...asList(unchecked).map((text) => [text, false])]
		: Object.entries(values || {});
	return new Map(listed.map(([text, to]) => [String(text), String(to)]));
}

/** @param {any} texts @returns {string[]} */
const asList = (texts) => [texts ?? []].flat();

/** Upper and lower case make no difference for yes and no. @param {string[]} list @param {string} text */
const isIn = (list, text) => list.some((other) => other.toLowerCase() === text.toLowerCase());

/** What is to be changed for the chosen meanings.
 * @param {Target} target @param {boolean} isCheckbox @param {Distinct[]} values @param {Meanings} chosen */
function operations(target, isCheckbox, values, chosen) {
	const empties = [...chosen.keys()].filter((text) => chosen.get(text) === leaveEmpty);
	const meant = new Map([...chosen].filter(([, to]) => to !== leaveEmpty));
	const rule = isCheckbox ? withWords(target, values, meant) : withValues(target, values, meant);
	return [...(meant.size ? changes(target, rule) : []), ...empties.map(emptyText)];
}

/** The rule with a table that lists the chosen meanings beside what is understood already.
 * @param {Target} target @param {Distinct[]} values @param {Meanings} meant */
function withValues(target, values, meant) {
	const { values: listed, ...all } = members(target.rule);
	const understood = listed ? Object.entries(listed) : values.filter((v) => !v.problem && v.to !== null).map((v) => [v.text, v.to]);
	const table = new Map(/** @type {[string, any][]} */ ([...understood, ...meant]).filter(([text]) => meant.get(text) !== takenOut));
	return table.size ? { ...all, values: Object.fromEntries(table) } : all;
}

/** The rule with the words for yes and for no. @param {Target} target @param {Distinct[]} values @param {Meanings} meant */
function withWords(target, values, meant) {
	const { checked, unchecked, ...all } = members(target.rule), texts = [...meant.keys()];
	const wordsFor = (/** @type {boolean} */ to, /** @type {any} */ listed) => {
		const understood = checked || unchecked ? asList(listed).map(String)
			: values.filter((v) => !v.problem && v.to === String(to)).map((v) => v.text);
		return [...understood.filter((t) => !isIn(texts, t)), ...texts.filter((t) => meant.get(t) === to)]
			.filter((t, n, list) => !isIn(list.slice(0, n), t));
	};
	const yes = wordsFor(true, checked), no = wordsFor(false, unchecked);
	return { ...all, ...(yes.length && { checked: yes }), ...(no.length && { unchecked: no }) };
}
