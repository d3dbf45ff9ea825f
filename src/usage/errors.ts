import { type AppError, defineError, invalidInput } from '../kernel/errors'

/** Limits of an export (contract 18.1) and the longest span of a report. */
export const EXPORT_DAYS = 92
export const REPORT_DAYS = 366
export const EXPORT_ROWS = 1_000_000

export const tooLong = (days: number, max: number): AppError =>
  invalidInput('from', `"from" and "to" are ${days} days apart; the maximum is ${max}. Use a shorter period.`)

export const tooManyRows = (rows: number): AppError =>
  invalidInput(
    'from',
    `This export would have ${rows} rows; the maximum is ${EXPORT_ROWS}. Use a shorter period or a filter.`,
  )

export const personalKeyRequired = defineError(
  'forbidden',
  'forbidden',
  () => "This key belongs to an organization and reads only the organization's usage. Use a personal key for your own.",
)
