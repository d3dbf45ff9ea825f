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
    'Try prompts with a key of yours. Make one with `svc-admin keys create --name NAME`, or on [your page](/home). Each run is a call like any other: it counts towards the limits of the key and costs what it costs.',
    `## Try a prompt {#${TRIED}}`,
    `Under the form, which needs JavaScript, is the same call as code. [What it takes](/docs/completions#${TRIED}) says more.`,
    samplesText(onlyTried(groups).operations[0]!, resolve, base),
  )

/** The call of the playground. */
export const playgroundCalls = (groups: readonly Group[], resolve: Resolve): Call[] =>
  callsOf(onlyTried(groups), resolve).map((call) => ({ ...call, opened: true }))
