import { column, idColumn } from '../output/columns'
import { argument } from '../words'

export const preferenceColumns = [
  idColumn,
  column('name', 'NAME'),
  column('scope', 'SCOPE'),
  column('is_default', 'DEFAULT', { kind: 'flag' }),
  column('rules', 'RULES', { show: ({ rules }, whole) => listed(rules, whole) }),
  column('examples', 'EXAMPLES', { show: ({ examples }, whole) => listed(examples, whole) }),
  column('confidence_floor_overrides', 'FLOORS', { wide: true }),
  column('bound_key_count', 'KEYS', { kind: 'number' }),
  column('description', 'DESCRIPTION', { wide: true }),
  column('org_id', 'ORG', { wide: true }),
  column('created', 'CREATED', { kind: 'time', wide: true }),
  column('updated', 'CHANGED', { kind: 'time' }),
]

const listed = (value: unknown, whole: boolean): string =>
  Array.isArray(value) ? (whole ? JSON.stringify(value) : String(value.length)) : ''

export const preferenceArgument = { preference: argument('id of the routing preference') }
export const PREFERENCE_ID = '0b6d4a52-6f0f-4c43-9a30-7d3c7f1f4e21'
