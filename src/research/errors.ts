import { AppError, defineError } from '../kernel/errors'

/** Thrown when no readable source answers the question. An engine may then answer from its own knowledge. */
class NothingToRead extends AppError {}

const nothingToRead =
  <Facts extends unknown[]>(sentence: (...facts: Facts) => string) =>
  (...facts: Facts) =>
    new NothingToRead('validation_error', sentence(...facts))

export const isNothingToRead = (error: unknown): error is AppError => error instanceof NothingToRead

/** No source could be read. The sentence is the job's error, or the reason why an answer was not researched. */
export const noSources = nothingToRead((searches: boolean, problems: readonly string[]) =>
  problems.length
    ? `No source could be read: ${listed(problems)}.`
    : searches
      ? 'The search found no source for this. Use other words, or put addresses into the prompt.'
      : 'There is no source to read, because this server has no search (its operator can set SVC_SEARCH_DRIVER). Put addresses (https://…) or ids of your files (art_…) into the prompt, or install a skill with knowledge.',
)

/** Names the sources that were read, because they may be only the caller's own files. */
export const nothingFound = nothingToRead(
  (titles: readonly string[], problems: readonly string[]) =>
    `The sources that could be read (${named(titles)}) do not mention this${problems.length ? `, and other sources could not be read: ${listed(problems)}` : ''}. Use other words, or name other sources.`,
)

const SHOWN = 3
/** Joins sentences into one. */
const listed = (problems: readonly string[]): string =>
  [
    ...problems.slice(0, SHOWN).map((one) => one.replace(/^The /, 'the ').replace(/\.$/, '')),
    ...(problems.length > SHOWN ? [`${problems.length - SHOWN} more`] : []),
  ].join('; ')

const named = (titles: readonly string[]): string =>
  [
    ...titles.slice(0, SHOWN).map((title) => `“${title}”`),
    ...(titles.length > SHOWN ? [`${titles.length - SHOWN} more`] : []),
  ].join(', ')

export const KEY_IS_GONE =
  'The caller who started it can no longer use this server: the key was revoked, or the account was closed.'

export const notAReport = defineError(
  'conflict',
  (type: string, status: string) =>
    `This is a job of type ${type} that is ${status}. Only the report of a completed research job can be checked.`,
)

/** A failed search or page read. The message is one sentence without the name of the search server or secrets. */
export class WebFailure extends Error {
  override name = 'WebFailure'
}
