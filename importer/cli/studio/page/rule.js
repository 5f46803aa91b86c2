// @ts-check
// Rules as the mapping writes them, and the sentences that say them to a person. Nothing here reads a cell or converts a value.

import { choiceWords, count } from './words.js';

/** @typedef {import('./types.js').Rule} Rule */
/** @typedef {import('./types.js').Target} Target */
/** @typedef {import('./types.js').Operation} Operation */

/** The ways in which a value is made, with a person's words. Exactly one of them is in a rule. */
export const sources = /** @type {const} */ ([
	['column', 'One column'],
	['value', 'The same for everyone'],
	['text', 'Text from columns'],
	['first_of', 'First filled column'],
	['join', 'Columns joined'],
	['expr', 'Formula'],
]);

/** @typedef {'column'|'value'|'text'|'first_of'|'join'|'expr'} Source */

/** A rule with its members; a bare text is a column. @param {Rule} rule @returns {Record<string, any>} */
export function members(rule) {
	if (rule === null || rule === undefined) return {};
	if (typeof rule === 'object' && !Array.isArray(rule)) return rule;
	return { column: rule };
}

/** How the value is made. @param {Rule} rule @returns {Source} */
export function sourceOf(rule) {
	const all = members(rule);
	return sources.find(([name]) => name in all)?.[0] || 'column';
}

/** The rule with another member; undefined takes the member away. What can be a bare text becomes one.
 * @param {Rule} rule @param {string} name @param {any} value @returns {Rule} */
export function withMember(rule, name, value) {
	const next = { ...members(rule) };
	if (value === undefined) delete next[name];
	else next[name] = value;
	return short(next);
}

/** The rule made in another way; what says how to read the cell stays. @param {Rule} rule @param {Source} source @returns {Rule} */
export function withSource(rule, source) {
	const old = members(rule);
	/** @type {Record<string, any>} */
	const next = { [source]: firstOf(old, source) };
	for (const [name, value] of Object.entries(old)) if (name !== 'with' && !sources.some(([s]) => s === name)) next[name] = value;
	return short(next);
}

/** What a new way of making the value begins with. @param {Record<string, any>} old @param {Source} source */
function firstOf(old, source) {
	const column = old.column || [old.first_of || old.join || []].flat()[0] || '';
	switch (source) {
		case 'first_of': case 'join': return column ? [column] : [];
		case 'text': return column ? `{${column}}` : '';
		case 'expr': return column ? `col(${JSON.stringify(column)})` : '';
		case 'column': return column;
		default: return '';
	}
}

/** @param {Record<string, any>} all @returns {Rule} */
function short(all) {
	return Object.keys(all).length === 1 && typeof all.column === 'string' ? all.column : all;
}

/** The editor that a target needs, by what the mapping language has at its path.
 * @param {Target} target @returns {'value'|'columns'|'column'|'condition'|'text'|'list'|'numbers'|'resume'|'choice'|'plain'} */
export function editorOf(target) {
	const last = target.path.split('/').pop() || '';
	if (/\/fields\/|\/attributes\/|\/lookup\/(email|phone)$/.test(target.path)) return 'value';
	if (last === 'key') return 'columns';
	if (last === 'known_id') return 'column';
	if (last === 'when') return 'condition';
	if (last === 'numbers') return 'numbers';
	if (last === 'resume_at') return 'resume';
	if (target.options) return 'choice';
	if (['empty', 'fill_down'].includes(last)) return 'list';
	if (/^\/claims\/\d+\/name$|\/workflow\/name$/.test(target.path)) return 'text';
	return 'plain';
}

/** How numbers are written in texts: an example, and the rule. @type {[string, Rule][]} */
export const numberForms = [
	['1,234.56', { decimal: '.', group: ',' }],
	['1.234,56', { decimal: ',', group: '.' }],
	['1 234,56', { decimal: ',', group: ' ' }],
	["1'234.56", { decimal: '.', group: "'" }],
	['1234.56', { decimal: '.', group: '' }],
	['1234,56', { decimal: ',', group: '' }],
];

/** Says a rule in a person's words. @param {Target} target */
export function describe(target) {
	const { rule } = target;
	if (rule === null || rule === undefined) return '';
	switch (editorOf(target)) {
		case 'columns': return Array.isArray(rule) ? rule.join(' + ') : String(rule);
		case 'condition': return 'only when ' + rule;
		case 'list': return Array.isArray(rule) ? rule.map((text) => `“${text}”`).join(', ') : String(rule);
		case 'numbers': return `like ${numberForms.find(([, form]) => same(form, rule))?.[0] || JSON.stringify(rule)}`;
		case 'resume': return typeof rule === 'string' ? rule : `as the column ${/** @type {any} */ (rule).column} says`;
		case 'choice': return choiceWords(target, String(rule))[0];
		case 'value': return describeValue(rule);
		default: return typeof rule === 'object' && !Array.isArray(rule) ? String(/** @type {any} */ (rule).text ?? JSON.stringify(rule)) : String(rule);
	}
}

/** @param {Rule} rule */
function describeValue(rule) {
	const all = members(rule);
	const said = {
		column: () => String(all.column),
		value: () => (all.value === true ? 'always yes, ticked' : all.value === false ? 'always no, not ticked' : `always “${all.value}”`),
		text: () => String(all.text),
		first_of: () => 'first of ' + [all.first_of].flat().join(', '),
		join: () => [all.join].flat().join(' + '),
		expr: () => String(all.expr),
	}[sourceOf(rule)]();
	const more = [];
	if (all.format) more.push([all.format].flat().join(' or '));
	if (all.years) more.push(`years in the ${all.years}`);
	if (all.with) more.push(`with “${all.with}” between`);
	if (all.values) more.push(`${count(Object.keys(all.values).length, 'text')} translated`);
	if (all.checked || all.unchecked) more.push('own words for yes and no');
	if (all.percent) more.push('as a percentage');
	if (all.region) more.push(`numbers of ${all.region}`);
	if (all.default !== undefined) more.push(`“${all.default}” when empty`);
	if (all.required) more.push('must be filled');
	return more.length ? `${said} · ${more.join(' · ')}` : said;
}

/** The operations that change a target's rule as a person changed it, as few as possible, so that comments beside the rest stay, and so does what was
 * changed elsewhere meanwhile. @param {Target} target as it is now @param {Rule} next @param {Rule} [from] what the person began with @returns {Operation[]} */
export function changes(target, next, from = target.rule) {
	const isPart = isObject(target.rule) && editorOf(target) === 'value' && (isObject(next) || !same(from, target.rule));
	const [old, mine] = isPart && from !== null ? [members(from), members(next)] : [from, next];
	if (isObject(target.rule) && isObject(old) && isObject(mine) && sourceOf(old) === sourceOf(mine)) return difference(target.path, old, mine);
	return [{ op: target.rule === null || target.rule === undefined ? 'add' : 'replace', path: target.path, value: next }];
}

/** The operations that take a rule away. @param {Target} target @returns {Operation[]} */
export const removal = (target) => [{ op: 'remove', path: target.path }];

/** @param {any} value @returns {value is Record<string, any>} */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param {string} path @param {Record<string, any>} old @param {Record<string, any>} next @returns {Operation[]} */
function difference(path, old, next) {
	/** @type {Operation[]} */
	const list = [];
	const at = (/** @type {string} */ name) => path + '/' + name.replaceAll('~', '~0').replaceAll('/', '~1');
	for (const name of Object.keys(old)) if (!(name in next)) list.push({ op: 'remove', path: at(name) });
	for (const [name, value] of Object.entries(next)) {
		if (!(name in old)) list.push({ op: 'add', path: at(name), value });
		else if (isObject(old[name]) && isObject(value)) list.push(...difference(at(name), old[name], value));
		else if (isLonger(old[name], value)) list.push(...value.slice(old[name].length).map((/** @type {any} */ one) => ({ op: 'add', path: at(name) + '/-', value: one })));
		else if (!same(old[name], value)) list.push({ op: 'replace', path: at(name), value });
	}
	return list;
}

/** Reports whether a list is another one with more behind it. @param {any} old @param {any} next */
const isLonger = (old, next) => Array.isArray(old) && Array.isArray(next) && next.length > old.length && same(next.slice(0, old.length), old);

/** Reports whether two rules say the same. @param {any} a @param {any} b */
export const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** The operation by which a text counts as empty in every column. @param {string} text @returns {Operation} */
export function emptyText(text) {
	return { op: 'add', path: '/sheet/empty/-', value: text };
}

/** The name of a target as a person says it. @param {Target} target */
export function nameOf(target) {
	return target.of && target.of !== 'Claim' && ['activity', 'claims', 'contacts'].includes(target.group) ? `${target.title} · ${target.of}` : target.title;
}
