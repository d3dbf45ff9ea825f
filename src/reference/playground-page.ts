import { type Call, callsOf } from './calls'
import { samplesText } from './group-page'
import type { Group, Resolve } from './operations'
import { sections } from './write'

/** The route that is tried. */
const TRIED = 'postCompletions'

const onlyTried = (groups: readonly Group[]): Group => {
  const found = groups.find(({ operations }) => operations.some(({ id }) => id === TRIED))!
  return { ...found, operations: found.operations.filter(({ id }) => id === TRIED) }
}

/** The page on which developers try prompts; its form is that of "Try it", there from the start (dx 5.5). */
export const playgroundPage = (groups: readonly Group[], resolve: Resolve, base: string): string =>
  sections(
    '# Playground',
    'Try prompts with your key. Create one with `svc-admin keys create --name NAME`, or on [your account page](/home). Each run counts towards the limits of the key and is charged like any other call.',
    `## Try a prompt {#${TRIED}}`,
    `The form needs JavaScript. Below it is the same call as code. [The reference](/docs/completions#${TRIED}) lists all parameters.`,
    samplesText(onlyTried(groups).operations[0]!, resolve, base),
  )

/** The call of the playground. */
export const playgroundCalls = (groups: readonly Group[], resolve: Resolve): Call[] =>
  callsOf(onlyTried(groups), resolve).map((call) => ({ ...call, opened: true }))
