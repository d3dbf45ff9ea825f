import { type AppError, defineError, invalidInput } from '../kernel/errors'

/** Contract 18.1: an export; and what a report may span. */
export const EXPORT_DAYS = 92
export const REPORT_DAYS = 366
export const EXPORT_ROWS = 1_000_000

export const reversed = (from: string, to: string): AppError =>
  invalidInput('from', `"from" is ${from}, which is not before "to", ${to}. Send an earlier "from" or a later "to".`)

export const tooLong = (days: number, most: number): AppError =>
  invalidInput(
    'from',
    `"from" and "to" are ${days} days apart; at most ${most} can be asked for at once. Ask for a shorter period.`,
  )

export const tooManyRows = (rows: number): AppError =>
  invalidInput(
    'from',
    `This export would have ${rows} rows; at most ${EXPORT_ROWS} are sent at once. Ask for a shorter period, or filter.`,
  )

export const orgRequired = defineError(
  'invalid',
  'org_required',
  () => 'scope is "org" and no organization is active. Activate one with POST /orgs/{id}/activate, or send "user".',
)

export const notThisKeys = defineError(
  'forbidden',
  'forbidden',
  () => "This key belongs to an organization and sees the organization's usage. Use a personal key for your own.",
)
