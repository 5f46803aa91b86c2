// @ts-check
// What the server answers, as types. The server's package comment is the contract.

/**
 * @typedef {{code: string, message: string, count: number, example?: string}} CellErrors
 *   one kind of mistake in the cells of a column, with how often and an example
 *
 * @typedef {{code: string, message: string, hint?: string, where?: string, line?: number,
 *   row?: number, path?: string, column?: string}} Problem
 *   a mistake in the mapping or in the sheet
 *
 * @typedef {{usable: number, errors: number, empty: number, problems: CellErrors[]}} Tally
 *   the verdict over all cells of a column or a target
 *
 * @typedef {{letter: string, header: string, shared: boolean, filled: number, distinct: number, distinctMore?: boolean,
 *   samples: string[], targets: string[], ignored: boolean} & Tally} Column
 *
 * @typedef {string | number | boolean | null | any[] | Record<string, any>} Rule
 *   what the mapping says about one target
 *
 * @typedef {{path: string, byTemplate: string, section: string, about: string, title: string, name: string, isOpen: boolean, type: string,
 *   typeFrom: string, required: boolean, editor: string, choices: [any, string, string][]|null, options: string[]|null, rule: Rule,
 *   columns: string[], line?: number} & Tally} Target
 *   one thing that the service can get; the server makes what is missing above its path. title is its name in its section, and about says
 *   how that is sent; choices are what the rule can say, if few: each value, the words for it, and what it does; options are the service's
 *
 * @typedef {{op: 'add'|'remove'|'replace'|'move', path: string, from?: string, value?: any}} Operation
 *   one operation of a JSON Patch
 *
 * @typedef {{path: string, operations: Operation[], column: string, reason: string, ask?: string, sure: boolean}} Suggestion
 *   what could fill a target; ask is what has to be confirmed
 *
 * @typedef {{line: number, text: string, path: string}} Question
 *   a comment of a first mapping that asks for a decision
 *
 * @typedef {{rows: number, done: number, complete: boolean, stale: boolean, partial: boolean, skipped: number, usable: number, errors: number,
 *   clients: number, disagree: number, codes: CellErrors[], error: string}} Judgement
 *   the verdict over the sheet. complete: all rows are judged; stale: they cannot be, because the mapping has a mistake;
 *   partial: rules with mistakes are left out; error: why the rows could not be judged
 *
 * @typedef {{kind: 'dry-run'|'sandbox', state: 'running'|'done'|'failed', phase: string, done: number, of: number,
 *   exitCode: number, summary: Record<string, any>|null, workbook: string, pages: string, problems: Problem[]}} Job
 *
 * @typedef {{path: string, others: number, names: string[], name: string, headerRow: number, first: string[][], problems: Problem[]}} Sheet
 *
 * @typedef {{version: number, progress: number,
 *   mapping: {path: string, exists: boolean, dirty: boolean, text: string, problems: Problem[],
 *     warnings: Problem[], history: string[], at: number, questions: Question[], draft: boolean, diskNote: string},
 *   environment: string, sheet: Sheet, columns: Column[], targets: Target[], suggestions: Suggestion[], judgement: Judgement,
 *   command: string, job: Job|null}} State
 *
 * @typedef {{row: number, source: string, result: string|null, problem: Problem|null}} PreviewRow
 *
 * @typedef {{format?: string, rows: PreviewRow[], usable: number, errors: number, empty: number, error?: Problem, readings?: Preview[]}} Preview
 *   what a rule makes of the first rows, and how many of the first 2,000 it can read; readings are those with other formats of dates
 *
 * @typedef {{text: string, count: number, to: string|null, problem: string|null}} Distinct
 *   one text of a column, how often it occurs, and what is sent for it; problem is a code
 */

export {};
