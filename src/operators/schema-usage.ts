import { OwnerQuery } from '../accounts/orgs/schema'
import { type Static, t } from '../kernel/schema'
import { UsageExportQuery, UsageQuery, UsageReport } from '../usage/schema'

const { scope: _report, ...filters } = UsageQuery.properties
const { scope: _export, ...exportFilters } = UsageExportQuery.properties

/** The owner and the filters of a usage report. */
export const OperatorUsageQuery = t.Object({ ...OwnerQuery.properties, ...filters })
export type OperatorUsageQuery = Static<typeof OperatorUsageQuery>

export const OperatorUsageExportQuery = t.Object({ ...OwnerQuery.properties, ...exportFilters })
export type OperatorUsageExportQuery = Static<typeof OperatorUsageExportQuery>

export const OperatorUsage = t.Object({
  id: t.String({ description: 'org:ID or user:ID' }),
  object: t.Literal('usage'),
  owner: t.String(),
  ...UsageReport.properties,
})
export type OperatorUsage = Static<typeof OperatorUsage>
