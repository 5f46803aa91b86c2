// @ts-check
// Rules as the mapping writes them, and the sentences that say them to a person. Nothing here reads a cell or converts a value.

import { count } from './words.js';

/** @typedef {import('./types.js').Rule} Rule */
/** @typedef {import('./types.js').Target} Target */
/** @typedef {import('./types.js').Operation} Operation */

/** The ways in which a value is made, with a person's words. Exactly one of them is in a rule. @type {[string, string][]} */
export const sources = [
	['column', 'One column'], ['value', 'The same for everyone'], ['text', 'Text from columns'], ['first_of', 'First filled column'],
	['join', 'Columns joined'], ['expr', 'Formula'],
];

/** @param {any} value @returns {value is Record<string, any>} */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A rule with its members; a bare text is a column. @param {Rule} rule @returns {Record<string, any>} */
export const members = (rule) => (isObject(rule) ? rule : rule === null || rule === undefined ? {} : { column: rule });

/** How the value is made. @param {Rule} rule */
export const sourceOf = (rule) => sources.find(([name]) => name in members(rule))?.[0] || 'column';

/** A rule as it is written: a column alone is a bare text. @param {Record<string, any>} all @returns {Rule} */
const short = (all) => (Object.keys(all).length === 1 && typeof all.column === 'string' ? all.column : all);

/** A list as it is written: one text stands alone. @param {string[]} list */
export const oneOrList = (list) => (list.length > 1 ? list : list[0] ?? '');

/** The rule with another member; undefined takes the member away. @param {Rule} rule @param {string} name @param {any} value */
export function withMember(rule, name, value) {
	const { [name]: _, ...rest } = members(rule);
	return short(value === undefined ? rest : { ...members(rule), [name]: value });
}

/** The rule made in another way; what says how to read the cell stays. @param {Rule} rule @param {string} source
 * @param {Record<string, any>} before what each way had, which is there again */
export function withSource(rule, source, before) {
	const all = { ...before, ...members(rule) };
	const column = all.column || [all.first_of || all.join || []].flat()[0] || '';
	const first = { first_of: column ? [column] : [], join: column ? [column] : [], text: column && `{${column}}`,
		expr: column && `col(${JSON.stringify(column)})`, column }[source] ?? '';
	const rest = Object.entries(members(rule)).filter(([name]) => name !== 'with' && !sources.some(([s]) => s === name));
	const between = source === 'join' && 'with' in all ? { with: all.with } : {};
	return short({ [source]: all[source] === '' ? first : all[source] ?? first, ...between, ...Object.fromEntries(rest) });
}

/** Says a rule in a person's words. @param {Target} target */
export function describe({ rule, editor, choices }) {
	const all = members(rule), choice = choices?.find(([value]) => same(value, rule));
	if (rule === null) return '';
	if (editor === 'value') return describeValue(all);
	if (choice) return choice[1];
	if (isObject(rule)) return String(all.text ?? (all.column ? `as the column ${all.column} says` : JSON.stringify(rule)));
	return editor === 'list' ? [rule].flat().map((text) => `“${text}”`).join(', ') : [rule].flat().join(' + ');
}

/** @param {Record<string, any>} all */
function describeValue(all) {
	const always = { true: 'always yes, ticked', false: 'always no, not ticked' }[String(all.value)];
	const said = all.first_of ? 'first of ' + [all.first_of].flat().join(', ') : all.join ? [all.join].flat().join(' + ')
		: 'value' in all ? (typeof all.value === 'boolean' && always) || `always “${all.value}”` : String(all.column ?? all.text ?? all.expr);
	return [
		said, all.format && [all.format].flat().join(' or '), all.years && `years in the ${all.years}`, all.with && `with “${all.with}” between`,
		all.values && `${count(Object.keys(all.values).length, 'text')} translated`, (all.checked || all.unchecked) && 'own words for yes and no',
		all.percent && 'as a percentage', all.region && `numbers of ${all.region}`, all.default !== undefined && `“${all.default}” when empty`,
		all.required && 'must be filled',
	].filter(Boolean).join(' · ');
}

/** The operations that change a target's rule as a person changed it, as few as possible, so that comments beside the rest stay, and so does what was
 * changed elsewhere meanwhile. @param {Target} target as it is now @param {Rule} next @param {Rule} [from] what the person began with @returns {Operation[]} */
export function changes(target, next, from = target.rule) {
	const isPart = isObject(target.rule) && target.editor === 'value' && (isObject(next) || !same(from, target.rule));
	const [old, mine] = isPart && from !== null ? [members(from), members(next)] : [from, next];
	if (isObject(target.rule) && isObject(old) && isObject(mine) && sourceOf(old) === sourceOf(mine)) return difference(target.path, old, mine);
	return [{ op: target.rule === null ? 'add' : 'replace', path: target.path, value: next }];
}

/** @param {string} path @param {Record<string, any>} old @param {Record<string, any>} next @returns {Operation[]} */
function difference(path, old, next) {
	return Object.keys({ ...old, ...next }).flatMap((name) => {
		const at = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, was = old[name], is = next[name];
		if (same(was, is)) return [];
		if (!(name in next)) return [{ op: 'remove', path: at }];
		if (isObject(was) && isObject(is)) return difference(at, was, is);
		if (Array.isArray(was) && Array.isArray(is) && same(is.slice(0, was.length), was)) // a list with more behind it
			return is.slice(was.length).map((value) => ({ op: 'add', path: at + '/-', value }));
		return [{ op: name in old ? 'replace' : 'add', path: at, value: is }];
	});
}

/** Reports whether two rules say the same. @param {any} a @param {any} b */
export const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** The operation by which a text counts as empty in every column. @param {string} text @returns {Operation} */
export const emptyText = (text) => ({ op: 'add', path: '/sheet/empty/-', value: text });
