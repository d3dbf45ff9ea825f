import type { NewRule, Preview } from '../../src/routing/schema'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { CheckFailed, expectData, usageFailure } from '../failure'
import { formatOf } from '../globals'
import { column } from '../output/columns'
import { type RoutingCase, readCases, readTextFile, readValueFile } from '../preference-file'
import { resolveKey } from '../resolve'
import { resourceOver } from '../resource'
import { resolveRuleSet } from '../rule-set'
import type { Shell } from '../shell'
import { flag, optional, text } from '../words'
import { PREFERENCE_ID } from './routing-columns'

const chosen = [
  column('resolved_mode', 'MODE'),
  column('engine', 'ENGINE'),
  column('source', 'DECIDED BY'),
  column('matched', 'MATCHED'),
  column('confidence', 'CONFIDENCE', { kind: 'number' }),
  column('floor', 'FLOOR', { kind: 'number' }),
  column('reasoning', 'WHY'),
]
const stageColumns = [
  column('stage', 'STAGE'),
  column('mode', 'MODE'),
  column('confidence', 'CONFIDENCE', { kind: 'number' }),
  column('floor', 'FLOOR', { kind: 'number' }),
  column('matched', 'MATCHED'),
  column('ms', 'MS', { kind: 'number' }),
]
const caseColumns = [
  column('line', 'LINE', { kind: 'number' }),
  column('ok', 'OK', { kind: 'flag' }),
  column('expected_mode', 'EXPECTED'),
  column('resolved_mode', 'GOT'),
  column('expected_engine', 'ON'),
  column('engine', 'ENGINE'),
  column('source', 'DECIDED BY'),
  column('confidence', 'CONFIDENCE', { kind: 'number' }),
  column('prompt', 'PROMPT'),
]

const under = {
  pref: text('ID', "use this preference, by id or name, instead of the key's own"),
  key: text('KEY', 'decide as for this key'),
  rules: text('FILE', 'use these rules: a list as JSON, JSONC or YAML'),
  engine: flag('also ask the engine classifier, as a real request would; over --url only'),
}
type Under = { [Name in 'pref' | 'key' | 'rules']: string | undefined } & { engine: boolean | undefined }
const shared = { apis: ['tenant', 'operator'], impact: 'read' } as const
const OWNER_FILTER =
  "Decides as for the key in use. On the server's machine it uses no preference, unless --org, --key or --pref choose one. Nothing is billed or stored, and without --engine nothing is sent to an engine."

export const previewRouting = defineCommand({
  ...shared,
  path: 'routing preview',
  summary: 'Show which mode and engine a prompt would get, and why',
  about: `Shows each stage with its minimum confidence. ${OWNER_FILTER}`,
  examples: ['routing preview "Draft a contract"', `routing preview "Draft a contract" --pref ${PREFERENCE_ID} --json`],
  exits: [3, 6],
  columns: chosen,
  args: { prompt: optional('the prompt') },
  flags: { file: { ...text('FILE', 'a file that contains the prompt; - reads stdin'), short: 'f' }, ...under },
  async run(shell, { prompt, file, ...rest }) {
    const question = prompt ?? (file === undefined ? undefined : await readTextFile(shell, file))
    if (question === undefined)
      throw usageFailure('routing preview needs a PROMPT.', 'svc-admin routing preview "Hello"')
    printFound(shell, await (await previewer(shell, rest))(question))
  },
})

export const testRouting = defineCommand({
  ...shared,
  path: 'routing test',
  summary: 'Test a prompt, or a file of prompts with their expected modes',
  about: `With --prompt it shows the mode, the engine, what decided, and the floor. With -f each line is one JSON object: {"prompt":"…","expected_mode":"…"}, and "expected_engine" where it matters. Every miss is printed, and one is enough to exit 9. ${OWNER_FILTER}`,
  examples: [
    'routing test --prompt "Draft a contract" --key ci',
    'routing test -f cases.jsonl',
    `routing test -f cases.jsonl --pref ${PREFERENCE_ID} --every --json`,
  ],
  exits: [3, 6, 9],
  columns: [...chosen, ...caseColumns.filter(({ field }) => !chosen.some((one) => one.field === field))],
  flags: {
    prompt: text('TEXT', 'one prompt; @FILE reads it from a file'),
    file: { ...text('FILE', 'the cases, one JSON object per line; - reads stdin'), short: 'f' },
    every: flag('with -f: also print the cases that pass'),
    ...under,
  },
  async run(shell, { prompt, file, every, ...rest }) {
    if ((prompt === undefined) === (file === undefined)) {
      const message = prompt === undefined ? 'needs --prompt TEXT or -f FILE' : 'takes --prompt or -f, not both'
      throw usageFailure(`routing test ${message}.`, 'svc-admin routing test -f cases.jsonl')
    }
    if (file !== undefined) return testCases(shell, { file, every, ...rest })
    const question = prompt!.startsWith('@') ? await readTextFile(shell, prompt!.slice(1)) : prompt!
    printFound(shell, await (await previewer(shell, rest))(question))
  },
})

function printFound(shell: Shell, found: Preview): void {
  shell.print.item({ ...found, ...decidedBy(found) }, chosen)
  // Tables list the stages; JSON, and `--fields`, give the answer with the stages as a member.
  if (['table', 'wide'].includes(formatOf(shell.globals)) && shell.globals.fields === undefined)
    shell.print.list(found.stages, stageColumns, 'No stages.')
}

/** The match and floor of the stage that decided; when none did, the floor that the last guess did not reach. */
function decidedBy({ source, stages }: Preview): { floor: number | null; matched: string | null } {
  const requests = stages.filter(({ stage }) => stage !== 'default')
  const decided = stages.find(({ stage }) => stage === source && source !== 'default') ?? requests.at(-1)
  return { floor: decided?.floor ?? null, matched: source === 'default' ? null : (decided?.matched ?? null) }
}

async function testCases(
  shell: Shell,
  { file, every, ...rest }: Under & { file: string; every: boolean | undefined },
): Promise<void> {
  const cases = await readCases(shell, file)
  const preview = await previewer(shell, rest)
  const rows = []
  for (const one of cases) rows.push(judged(one, await preview(one.prompt)))
  const missed = rows.filter(({ ok }) => !ok)
  shell.print.list(every ? rows : missed, caseColumns, 'Every case got the expected result.')
  shell.note(`${rows.length - missed.length} of ${rows.length} cases as expected.`)
  if (missed.length) throw new CheckFailed()
}

function judged({ line, prompt, expected_mode, expected_engine }: RoutingCase, found: Preview) {
  const { resolved_mode, engine, source, confidence } = found
  const ok = resolved_mode === expected_mode && (expected_engine === null || engine === expected_engine)
  return { line, ok, expected_mode, expected_engine, resolved_mode, engine, source, confidence, prompt }
}

async function previewer(shell: Shell, { pref, key, rules, engine }: Under) {
  const tried = rules === undefined ? undefined : ((await readValueFile(shell, rules)) as NewRule[])
  const { api, ownerFilter, isOperator } = await apiOf(shell)
  if (engine && isOperator) {
    throw usageFailure('--engine calls an engine, which needs an API key: add --url and --key-file.')
  }
  const preferences = await resourceOver(shell, 'routing-preferences')
  const shared = {
    ...(pref ? { routing_preference_id: await resolveRuleSet(preferences, pref, 'routing preference') } : {}),
    ...(key ? { key_id: await resolveKey(api, key) } : {}),
    ...(tried ? { rules: tried } : {}),
    ...(engine ? { engine } : {}),
  }
  return async (prompt: string) =>
    expectData(await api['routing-preferences'].preview.post({ prompt, ...shared }, { query: ownerFilter }))
}
