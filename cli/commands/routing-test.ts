import type { NewRule } from '../../src/routing-preferences/schema'
import { defineCommand } from '../command'
import type { TenantPlane } from '../connection'
import { CheckFailed, expectData, usageFailure } from '../failure'
import { column } from '../output/columns'
import { type RoutingCase, readCases, readTextFile, readValueFile } from '../preference-file'
import type { Shell } from '../shell'
import { flag, optional, text } from '../words'
import { PREFERENCE_ID } from './routing-columns'

const chosen = [
  column('resolved_mode', 'MODE'),
  column('engine', 'ENGINE'),
  column('source', 'DECIDED BY'),
  column('confidence', 'CONFIDENCE', { kind: 'number' }),
  column('reasoning', 'WHY'),
  column('stages', 'STAGES', { wide: true }),
]
const stageColumns = [
  column('stage', 'STAGE'),
  column('mode', 'MODE'),
  column('confidence', 'CONFIDENCE', { kind: 'number' }),
  column('matched', 'MATCHED'),
  column('ms', 'MS', { kind: 'number' }),
]
const caseColumns = [
  column('line', 'LINE', { kind: 'number' }),
  column('ok', 'OK', { kind: 'flag' }),
  column('expected_mode', 'EXPECTED'),
  column('resolved_mode', 'GOT'),
  column('engine', 'ENGINE'),
  column('source', 'DECIDED BY'),
  column('confidence', 'CONFIDENCE', { kind: 'number' }),
  column('prompt', 'PROMPT'),
]

const under = {
  pref: text('ID', 'under this preference, whatever the key is bound to'),
  rules: text('FILE', 'under these rules: a list as JSON, JSONC or YAML'),
  engine: flag('ask the engine classifier too, where it would be asked'),
}
type Under = { pref: string | undefined; rules: string | undefined; engine: boolean | undefined }
const shared = { planes: ['tenant'], offline: true, impact: 'read', danger: 'none' } as const

export const previewRouting = defineCommand({
  ...shared,
  path: 'routing preview',
  summary: 'Show which mode and engine a prompt would get, and why',
  about: 'Stage by stage, as it would be for the key in use. Nothing is billed, stored or sent to an engine.',
  examples: ['routing preview "Draft a contract"', `routing preview "Draft a contract" --pref ${PREFERENCE_ID} --json`],
  exits: [3, 4, 7],
  columns: chosen,
  args: { prompt: optional('the prompt') },
  flags: { file: { ...text('FILE', 'a file that holds the prompt; - is stdin'), short: 'f' }, ...under },
  async run(shell, { prompt, file, ...rest }) {
    const asked = prompt ?? (file === undefined ? undefined : await readTextFile(shell, file))
    if (asked === undefined) throw usageFailure('routing preview needs a PROMPT.', 'svc-admin routing preview "Hello"')
    const found = await (await previewer(shell, rest))(asked)
    shell.print.item(found, chosen)
    if (shell.io.outIsTty && !shell.globals.json) shell.print.list(found.stages, stageColumns, 'No stages.')
  },
})

export const testRouting = defineCommand({
  ...shared,
  path: 'routing test',
  summary: 'Check a file of prompts against the modes they should get',
  about:
    'One JSON object a line: {"prompt":"…","expected_mode":"…"}, and "expected_engine" where it matters. Prints every miss, and exits 9 when there is one. Nothing is billed, stored or sent to an engine.',
  examples: ['routing test -f cases.jsonl', `routing test -f cases.jsonl --pref ${PREFERENCE_ID} --every --json`],
  exits: [3, 4, 7, 9],
  columns: caseColumns,
  flags: {
    file: { ...text('FILE', 'the cases, one JSON object a line; - is stdin'), short: 'f' },
    every: flag('print the cases that pass, too'),
    ...under,
  },
  async run(shell, { file, every, ...rest }) {
    if (file === undefined) throw usageFailure('routing test needs -f FILE.', 'svc-admin routing test -f cases.jsonl')
    const cases = await readCases(shell, file)
    const preview = await previewer(shell, rest)
    const rows = []
    for (const one of cases) rows.push(judged(one, await preview(one.prompt)))
    const missed = rows.filter(({ ok }) => !ok)
    shell.print.list(every ? rows : missed, caseColumns, 'Every case got what it should.')
    shell.note(`${rows.length - missed.length} of ${rows.length} cases as expected.`)
    if (missed.length) throw new CheckFailed()
  },
})

type Found = { resolved_mode: string; engine: string; source: string; confidence: number | null }

function judged({ line, prompt, expected_mode, expected_engine }: RoutingCase, found: Found) {
  const { resolved_mode, engine, source, confidence } = found
  const ok = resolved_mode === expected_mode && (expected_engine === null || engine === expected_engine)
  return { line, ok, expected_mode, expected_engine, resolved_mode, engine, source, confidence, prompt }
}

async function previewer(shell: Shell, { pref, rules, engine }: Under) {
  const tried = rules === undefined ? undefined : ((await readValueFile(shell, rules)) as NewRule[])
  const { client }: TenantPlane = await (await shell.connect()).tenant()
  return async (prompt: string) =>
    expectData(
      await client['routing-preferences'].preview.post({
        prompt,
        ...(pref ? { routing_preference_id: pref } : {}),
        ...(tried ? { rules: tried } : {}),
        ...(engine ? { engine } : {}),
      }),
    )
}
