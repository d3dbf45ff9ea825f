const isEmpty = (value: unknown): boolean => typeof value === 'object' && Object.keys(value ?? {}).length === 0
const always = (): boolean => false
const is =
  (usual: unknown) =>
  (value: unknown): boolean =>
    value === usual

/** Members of other services' orders that change an answer there, each with the values that would change nothing. */
const IGNORED: Readonly<Record<string, (value: unknown) => boolean>> = {
  audio: always,
  frequency_penalty: is(0),
  function_call: always,
  functions: isEmpty,
  logit_bias: isEmpty,
  logprobs: is(false),
  max_completion_tokens: always,
  max_tokens: always,
  modalities: (value) => Array.isArray(value) && value.every(is('text')),
  n: is(1),
  presence_penalty: is(0),
  reasoning_effort: always,
  seed: always,
  stop: isEmpty,
  top_logprobs: is(0),
  top_p: is(1),
  web_search_options: always,
}

/** Their names in the order that the documents list them. */
export const IGNORED_MEMBERS: readonly string[] = Object.keys(IGNORED)

const NONE: ReadonlySet<string> = new Set()

/** The members of an input that were accepted and ignored (contract 1.1, 4). */
export const ignoredNamesIn = (input: object, honoured: ReadonlySet<string> = NONE): string[] => {
  const sent = input as Record<string, unknown>
  return IGNORED_MEMBERS.filter((name) => sent[name] != null && !honoured.has(name) && !IGNORED[name]!(sent[name]))
}

/** A sentence that names what was ignored, so that nobody waits for what it asks; none when there is nothing. */
export const ignoredWarning = (names: readonly string[]): string[] =>
  names.length ? [`Ignored, because this server does not have these settings: ${names.join(', ')}.`] : []

/**
 * Names in a header what was ignored, at most 1 KB of it (contract 29.3). Gives what adds further names: those that the
 * engine does not have are known once it is chosen, before the first byte of a stream.
 */
export function nameIgnored(headers: Record<string, unknown>, names: readonly string[]) {
  const all: string[] = []
  const add = (more: readonly string[]): void => {
    all.push(...more)
    if (all.length) headers['x-svc-ignored'] = all.join(', ').slice(0, 1_024)
  }
  add(names)
  return { ignores: add }
}
