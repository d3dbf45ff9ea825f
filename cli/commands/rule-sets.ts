import { column, idColumn } from '../output/columns'
import { pageFlags } from '../pages'
import { choice, text } from '../words'

/** Properties common to the commands of guardrail policies and routing preferences: both are named sets of rules. */
export const ruleSetCommand = { apis: ['tenant', 'operator'] } as const

/** The common columns, with a kind's own ones after the rules. */
export const ruleSetColumns = (...own: ReturnType<typeof column>[]) => [
  idColumn,
  column('name', 'NAME'),
  column('scope', 'SCOPE'),
  column('is_default', 'DEFAULT', { kind: 'flag' }),
  countedColumn('rules', 'RULES'),
  ...own,
  column('bound_key_count', 'KEYS', { kind: 'number' }),
  column('description', 'DESCRIPTION', { wide: true }),
  column('org_id', 'ORG', { wide: true }),
  column('created', 'CREATED', { kind: 'time', wide: true }),
  column('updated', 'CHANGED', { kind: 'time' }),
]

/** Shows the length of a list; in full output the list itself. */
export const countedColumn = (name: string, title: string) =>
  column(name, title, {
    show: ({ [name]: value }, entire) =>
      Array.isArray(value) ? (entire ? JSON.stringify(value) : String(value.length)) : '',
  })

export const ruleSetListFlags = { only: choice(['personal', 'team'], 'only those of this scope'), ...pageFlags }

export const ABOUT_FILES = 'The file uses the format of the API, as JSON, JSONC, YAML or TOML; - reads stdin.'

export const ruleSetFile = (what: string) => ({
  file: { ...text('FILE', `the ${what} as JSON, JSONC, YAML or TOML; - reads stdin`), short: 'f' },
})
