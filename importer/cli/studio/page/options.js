// @ts-check
// How a cell is read and what is sent when it is empty: the fields that the type of the target needs.

import { html } from './lib.js';
import { members, sourceOf, withMember } from './rule.js';
import { SelectField, TextField } from './ui.js';
import { typeName, types } from './words.js';

/** @typedef {import('./editor.js').Fields} Fields */

const dateFormats = ['dd/mm/yyyy', 'mm/dd/yyyy', 'yyyy-mm-dd', 'dd.mm.yyyy', 'dd-mm-yyyy', 'd/m/yyyy', 'dd/mm/yy', 'd mmm yyyy', 'd mmmm yyyy'];

/** Reports whether phone numbers have errors because their country is not said. @param {import('./types.js').Target} target */
export const isRegionMissing = (target) => (target.problems || []).some((p) => p.code === 'phone-region');

/** @param {Fields} props */
export function Options({ target, draft, onDraft }) {
	const all = members(draft);
	const type = all.type || target.type;
	const set = (/** @type {string} */ name) => (/** @type {any} */ value) => onDraft(withMember(draft, name, value === ''
		|| value === false ? undefined : value));
	const isCell = sourceOf(draft) !== 'value';
	const open = isRegionMissing(target) || ['type', 'format', 'years', 'region', 'percent', 'default', 'else', 'required', 'max_length'].some((name) => name in all);
	return html`<details class="more" open=${open}><summary>How it is read</summary><div class="fields">
		<${TypeField} target=${target} type=${all.type} onType=${set('type')} />
		${isCell && (type === 'Date' || type === 'DateTime')
			&& html`<${TextField} label="Dates look like" value=${[all.format || ''].flat().join(' or ')} offers=${dateFormats}
			hint="Several ways with “or” between them"
				onText=${(/** @type {string} */ t) => set('format')(formatsOf(t))} />`}
		${isCell && (all.years || [all.format || ''].flat().some((f) => /yy/i.test(f) && !/yyyy/i.test(f)))
			&& html`<${SelectField} label="Years of two digits" value=${all.years || ''} options=${centuries} onPick=${set('years')} />`}
		${type === 'Phone' && html`<${TextField} label="Country of numbers without one" value=${all.region || ''} offers=${['GB', 'IE', 'DE', 'US']} hint="Two letters, for example GB"
			onText=${(/** @type {string} */ t) => set('region')(t.toUpperCase().trim())} />`}
		${isCell && type === 'Number'
			&& html`<${Check} label="Cells are percentages: 5% is sent as 0.05" value=${all.percent} onCheck=${set('percent')} />`}
		${isCell && all.values && html`<${Sent} target=${target} type=${type} label="Anything not listed is sent as" value=${all.else} hint="Empty: it is a mistake" onSent=${set('else')} />`}
		${isCell && html`<${Sent} target=${target} type=${type} label="An empty cell is sent as" value=${all.default} hint="Empty: nothing is sent" onSent=${(/** @type {any} */ value) => onDraft(withMember(draft, 'default', value === '' ? undefined : value))} />`}
		${isCell && html`<${Check} label="An empty cell is a mistake" value=${all.required} onCheck=${set('required')} />`}
		${['Text', 'TextArea', undefined, ''].includes(type)
			&& html`<${TextField} label="Most characters" number=${true} value=${all.max_length ?? ''}
			onText=${(/** @type {string} */ t) => set('max_length')(Number(t) || '')} />`}
	</div></details>`;
}

/** The century of years of two digits. @type {[string, string][]} */
const centuries = [['', 'a day after today is a mistake'], ['past', 'always past, as dates of birth'], ['future', '2000 to 2099']];

/** The forms of dates as they are typed. @param {string} text @returns {string|string[]} */
function formatsOf(text) {
	const list = text.split(/\s+or\s+/).map((f) => f.trim()).filter(Boolean);
	return list.length > 1 ? list : list[0] || '';
}

/** What is sent instead of a cell: one of the texts that the service takes, yes or no, or any text.
 * @param {{target: import('./types.js').Target, type: string|undefined, label: string, value: any, hint: string, onSent: (value: any) => void}} props */
export function Sent({ target, type, label, value, hint, onSent }) {
	const choices = valueChoices(target, type);
	if (!choices.length) return html`<${TextField} label=${label} value=${value ?? ''} hint=${hint} onText=${onSent} />`;
	const now = value === undefined || value === '' ? '' : JSON.stringify(value);
	const isOther = now !== '' && !choices.some(([to]) => to === now);
	return html`<${SelectField} label=${label} value=${now} hint=${hint} onPick=${(/** @type {string} */ to) => onSent(to && JSON.parse(to))}
		options=${[['', ''], ...(isOther ? [[now, `${value}, which the service does not take`]] : []), ...choices]} />`;
}

/** What can be sent for a target, as JSON, with the words for it; nothing where any text can be.
 * @param {import('./types.js').Target} target @param {string|undefined} type @returns {[string, string][]} */
export const valueChoices = (target, type) => (type === 'Checkbox' ? [['true', 'Yes, ticked'], ['false', 'No, not ticked']]
	: (target.options || []).map((o) => [JSON.stringify(o), o]));

/** The type: the service's, unless the person chooses another. @param {{target: import('./types.js').Target, type?: string, onType: (type: string) => void}} props */
function TypeField({ target, type, onType }) {
	const isKnown = target.type && (target.typeFrom === 'service' || target.typeFrom === 'default');
	const usual = isKnown ? `${typeName(target.type)} (${target.typeFrom === 'service' ? 'as the service says' : 'usual'})` : 'as the service says';
	return html`<${SelectField} label="Type" value=${type || ''} options=${[['', usual], ...Object.entries(types)]} onPick=${onType}
		hint=${type && type !== target.type && 'Your choice; it wins over the service\'s type.'} />`;
}

/** @param {{label: string, value: any, onCheck: (checked: boolean) => void}} props */
const Check = ({ label, value, onCheck }) => html`<p class="field">
	<label class="check"><input type="checkbox" checked=${value === true} onChange=${(/** @type {any} */ e) => onCheck(e.target.checked)} /> ${label}
	</label></p>`;
