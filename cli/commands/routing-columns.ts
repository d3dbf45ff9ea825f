import { column } from '../output/columns'
import { countedColumn, ruleSetColumns } from './rule-sets'

export const preferenceColumns = ruleSetColumns(
  countedColumn('examples', 'EXAMPLES'),
  column('confidence_floor_overrides', 'FLOORS', { wide: true }),
)
export const PREFERENCE_ID = '0b6d4a52-6f0f-4c43-9a30-7d3c7f1f4e21'
