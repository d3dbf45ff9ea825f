import { AppError } from '../kernel/errors'

/** How charged work ended: the status of its answer, and the code of the error that ended it early. */
export type Ending = {
  status: number
  errorCode: string | null
  /** The error that ended it early. */
  broken?: unknown
}

const STATUS: Partial<Record<AppError['kind'], number>> = {
  timeout: 504,
  unavailable: 503,
  upstream: 502,
  conflict: 409,
  forbidden: 403,
  unpaid: 402,
  unauthenticated: 401,
  invalid: 400,
}

/** How work ended, by the error that ended it; undefined for work that was done. */
export function endingOf(broken: unknown): Ending {
  if (broken === undefined) return { status: 200, errorCode: null, broken }
  if (!(broken instanceof AppError)) return { status: 500, errorCode: 'server_error', broken }
  const status = broken.code === 'client_closed' ? 499 : (STATUS[broken.kind] ?? 500)
  return { status, errorCode: broken.code, broken }
}
