import { argument } from '../words'
import { ruleSetColumns, ruleSetFile } from './rule-sets'

export const policyColumns = ruleSetColumns()
export const policyArgument = { policy: argument('id or name of the guardrail policy') }
export const policyFile = ruleSetFile('policy')
export const POLICY_ID = '4c1d7a52-9a0f-4c43-8b30-7d3c7f1f4e21'
