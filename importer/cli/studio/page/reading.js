// @ts-check
// How a cell is read and what is sent when it is empty: the fields that the type of the target needs.

import { Field } from './fields.js';
import { html } from './lib.js';
import { members, oneOrList, sourceOf, withMember } from './rule.js';
import { typeName, types } from './words.js';

/** @typedef {import('./types.js').Target} Target */

const dateFormats = ['dd/mm/yyyy', 'mm/dd/yyyy', 'yyyy-mm-dd', 'dd.mm.yyyy', 'dd-mm-yyyy', 'd/m/yyyy', 'dd/mm/yy', 'd mmm yyyy', 'd mmmm yyyy'];

/** The century of years of two digits. @type {[string, string][]} */
const centuries = [['', 'a day after today is a mistake'], ['past', 'always past, as dates of birth'], ['future', '2000 to 2099']];

/** Reports whether phone numbers have errors because their country is not said. @param {Target} target */
export const isRegionMissing = (target) => target.problems.some((p) => p.code === 'phone-region');

/** @param {import('./editor.js').Fields} props */
export function Reading({ target, draft, onDraft }) {
	const all = members(draft), type = all.type || target.type, formats = [all.format || ''].flat();
	const set = (name) => (value) => onDraft(withMember(draft, name, value === '' ? undefined : value));
	const check = (name, label) => html`<p class="field"><label class="check"><input type="checkbox" checked=${all[name] === true}
		onChange=${(e) => set(name)(e.target.checked || '')} /> ${label}</label></p>`;
	const sent = (/** @type {string} */ name, /** @type {string} */ label, /** @type {string} */ hint) => html`<${Sent} target=${target} type=${type}
		label=${label} value=${all[name]} hint=${hint} onSent=${set(name)} />`;
	const isCell = sourceOf(draft) !== 'value', isDate = isCell && ['Date', 'DateTime'].includes(type);
	const open = isRegionMissing(target)
		|| ['type', 'format', 'years', 'region', 'percent', 'default', 'else', 'required', 'max_length'].some((name) => name in all);
	const usual = !target.type || !['service', 'default'].includes(target.typeFrom) ? 'as the service says'
		: `${typeName(target.type)} (${target.typeFrom === 'service' ? 'as the service says' : 'usual'})`;
	return html`<details class="more" open=${open}><summary>How it is read</summary><div class="fields">
		<${Field} label="Type" value=${all.type || ''} onValue=${set('type')} options=${[['', usual], ...Object.entries(types)]}
			hint=${all.type && all.type !== target.type && 'Your choice; it wins over the service\'s type.'} />
		${isDate && html`<${Field} label="Dates look like" value=${formats.join(' or ')} offers=${dateFormats} hint="Several ways with “or” between them"
			onValue=${(t) => set('format')(oneOrList(t.split(/\s+or\s+/).map((f) => f.trim()).filter(Boolean)))} />`}
		${isCell && (all.years || formats.some((f) => /yy/i.test(f) && !/yyyy/i.test(f)))
			&& html`<${Field} label="Years of two digits" value=${all.years || ''} options=${centuries} onValue=${set('years')} />`}
		${type === 'Phone' && html`<${Field} label="Country of numbers without one" value=${all.region || ''} offers=${['GB', 'IE', 'DE', 'US']}
			hint="Two letters, for example GB" onValue=${(t) => set('region')(t.toUpperCase().trim())} />`}
		${isCell && type === 'Number' && check('percent', 'Cells are percentages: 5% is sent as 0.05')}
		${isCell && all.values && sent('else', 'Anything not listed is sent as', 'Empty: it is a mistake')}
		${isCell && sent('default', 'An empty cell is sent as', 'Empty: nothing is sent')}
		${isCell && check('required', 'An empty cell is a mistake')}
		${['Text', 'TextArea', undefined, ''].includes(type) && html`<${Field} label="Most characters" isNumber=${true} value=${all.max_length ?? ''}
			onValue=${(t) => set('max_length')(Number(t) || '')} />`}
	</div></details>`;
}

/** What can be sent for a target, as JSON, with the words for it; nothing where any text can be.
 * @param {Target} target @param {string|undefined} type @returns {[string, string][]} */
export const valueChoices = (target, type) => (type === 'Checkbox' ? [['true', 'Yes, ticked'], ['false', 'No, not ticked']]
	: (target.options || []).map((o) => [JSON.stringify(o), o]));

/** What is sent instead of a cell: one of the texts that the service takes, yes or no, or any text.
 * @param {{target: Target, type: string|undefined, label: string, value: any, hint?: string, onSent: (value: any) => void}} props */
export function Sent({ target, type, label, value, hint, onSent }) {
	const choices = valueChoices(target, type);
	if (!choices.length) return html`<${Field} label=${label} value=${value ?? ''} hint=${hint} onValue=${onSent} />`;
	const now = value === undefined || value === '' ? '' : JSON.stringify(value);
	const isOther = now && !choices.some(([to]) => to === now);
	return html`<${Field} label=${label} value=${now} hint=${hint} onValue=${(to) => onSent(to && JSON.parse(to))}
		options=${[['', ''], ...(isOther ? [[now, `${value}, which the service does not take`]] : []), ...choices]} />`;
}
