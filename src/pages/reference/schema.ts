import { FAILED } from './errors-failed'
import { REFUSED } from './errors-refused'

/** What one error code means, for whoever gets it and for whoever runs the server. */
export type ErrorPage = {
  status: number
  meaning: string
  /** What a caller does about it. */
  cure: string
  /** What the operator does, where that is something else. */
  operator?: string
  retry: 'yes' | 'no' | 'after Retry-After'
  /** Groups of the document whose routes answer with it; absent for any. */
  groups?: readonly string[]
}

/** Every error code of contract 1.5: what it means, and the cure. */
export const ERROR_PAGES: Readonly<Record<string, ErrorPage>> = { ...REFUSED, ...FAILED }
