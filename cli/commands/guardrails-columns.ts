import { column, idColumn } from '../output/columns'
import { argument, text } from '../words'

export const policyColumns = [
  idColumn,
  column('name', 'NAME'),
  column('scope', 'SCOPE'),
  column('is_default', 'DEFAULT', { kind: 'flag' }),
  column('rules', 'RULES', { show: ({ rules }, whole) => listed(rules, whole) }),
  column('bound_key_count', 'KEYS', { kind: 'number' }),
  column('description', 'DESCRIPTION', { wide: true }),
  column('org_id', 'ORG', { wide: true }),
  column('created', 'CREATED', { kind: 'time', wide: true }),
  column('updated', 'CHANGED', { kind: 'time' }),
]

const listed = (value: unknown, whole: boolean): string =>
  Array.isArray(value) ? (whole ? JSON.stringify(value) : String(value.length)) : ''

export const policyArgument = { policy: argument('id of the guardrail policy') }
export const policyFile = {
  file: { ...text('FILE', 'the policy as JSON, JSONC, YAML or TOML; - is stdin'), short: 'f' },
}
export const POLICY_ID = '4c1d7a52-9a0f-4c43-8b30-7d3c7f1f4e21'
export const ABOUT_FILES = 'The file is the body of the API as JSON, JSONC, YAML or TOML; - is stdin.'
