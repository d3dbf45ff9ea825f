import { defineCommand } from '../command'
import { expectData } from '../failure'
import { column, idColumn } from '../output/columns'
import { printPages } from '../pages'
import { argument, flag, text, whole } from '../words'
import { PREFERENCE_ID, preferenceColumns } from './routing-columns'

const suggested = [
  column('suggested_rule.pattern', 'PATTERN'),
  column('suggested_rule.target_mode', 'MODE'),
  column('confidence', 'CONFIDENCE', { kind: 'number' }),
  column('suggested_rule.description', 'WHY'),
  column('source_correction_ids', 'FROM', { kind: 'list', wide: true }),
]
const shared = { planes: ['tenant'], offline: true, danger: 'none' } as const

export const suggestRule = defineCommand({
  ...shared,
  path: 'routing suggest',
  summary: 'Get a rule for a mode out of recent corrections',
  about:
    'From three corrections of the last 30 days on. With --apply the rule is added to a preference, after its others.',
  examples: ['routing suggest data_extraction', `routing suggest code --apply ${PREFERENCE_ID} --json`],
  impact: 'write',
  exits: [3, 4, 7, 10],
  columns: suggested,
  args: { mode: argument('the mode to get a rule for') },
  flags: { apply: text('PREF', 'add it to this preference') },
  async run(shell, { mode, apply }) {
    const { client } = await (await shell.connect()).tenant()
    const found = expectData(await client['routing-preferences']['suggest-rule'].post({ expected_mode: mode }))
    if (!apply) return shell.print.item(found, suggested)
    if (shell.planned(`add ${found.suggested_rule.pattern} to routing preference ${apply}`)) return
    const one = client['routing-preferences']({ id: apply })
    const { rules } = expectData(await one.get())
    shell.print.item(expectData(await one.patch({ rules: [...rules, found.suggested_rule] })), preferenceColumns)
  },
})

const correctionColumns = [
  idColumn,
  column('expected_mode', 'EXPECTED'),
  column('resolved_mode', 'GOT'),
  column('prompt', 'PROMPT'),
  column('completion_id', 'COMPLETION', { wide: true }),
  column('note', 'NOTE', { wide: true }),
  column('created', 'WHEN', { kind: 'time' }),
]

export const listCorrections = defineCommand({
  ...shared,
  path: 'routing corrections',
  summary: 'List what callers said should have been the mode',
  about: 'Newest first: what suggestions are made from. A suggestion needs three of a mode in 30 days.',
  examples: ['routing corrections', 'routing corrections --mode code --all --json'],
  impact: 'read',
  exits: [4, 7],
  columns: correctionColumns,
  watchable: true,
  flags: {
    mode: text('MODE', 'only those that expected this mode'),
    limit: whole('N', 'how many at most, 50 unless said', { min: 1, max: 100 }),
    cursor: text('CURSOR', 'go on where an earlier list ended'),
    all: flag('every page'),
  },
  async run(shell, { mode, limit, cursor, all }) {
    const { client } = await (await shell.connect()).tenant()
    const page = async (from?: string) => {
      const query = { limit: limit ?? 50, ...(mode ? { expected_mode: mode } : {}), ...(from ? { cursor: from } : {}) }
      const found = expectData(await client['routing-corrections'].get({ query }))
      return { items: found.routing_corrections, next: found.next_cursor }
    }
    await printPages(shell, { page, cursor, all, columns: correctionColumns, empty: 'No corrections.' })
  },
})
