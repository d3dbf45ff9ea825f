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

/** The header that names what was ignored, at most 1 KB of it (contract 29.3). */
export const ignoredHeader = (names: readonly string[]): Record<string, string> =>
  names.length ? { 'x-svc-ignored': names.join(', ').slice(0, 1_024) } : {}
