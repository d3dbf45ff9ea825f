import type { NewWorkflow } from '../../src/automation/workflows-schema'
import { iso } from '../../src/kernel/clock'
import { defineCommand } from '../command'
import { CheckFailed, usageFailure } from '../failure'
import { column } from '../output/columns'
import { readValueFile } from '../preference-file'
import { argument, text } from '../words'

const columns = [
  column('index', 'STEP', { kind: 'number' }),
  column('name', 'NAME'),
  column('type', 'TYPE'),
  column('next', 'THEN'),
  column('onFailure', 'IF IT FAILS'),
]
const NEXT_RUNS = 5

/** The rules are the server's, and large: only this command loads them. */
const loadRules = () => import('../../src/automation/workflows-review')
type Rules = Awaited<ReturnType<typeof loadRules>>

/** Checks a workflow as the server would, and says when it would run (contract 10). */
export const validateWorkflow = defineCommand({
  path: 'workflows validate',
  summary: 'Check a workflow file as the server would, without a server',
  about:
    'Checks each step, its next steps, placeholders, expressions and addresses, and the trigger. Prints the steps, and for a schedule its next five runs. Exits 9 when something is wrong, or when a step cannot be reached.',
  examples: ['workflows validate workflow.yaml', 'workflows validate workflow.json --zone Europe/Vienna --json'],
  apis: ['host'],
  impact: 'read',
  exits: [9],
  columns,
  args: { file: argument('file of JSON, JSONC, YAML or TOML; - reads stdin') },
  flags: { zone: text('ZONE', 'time zone of the account, for a schedule without its own; UTC by default') },
  async run(shell, { file, zone = 'UTC' }) {
    const given = await readValueFile(shell, file)
    const rules = await loadRules()
    if (typeof given !== 'object' || given === null)
      throw usageFailure('The file must contain a workflow as an object.')
    const problem = rules.reviewWorkflow(given)
    if (problem) {
      shell.note(problem)
      throw new CheckFailed()
    }
    const { steps, triggerType, triggerConfig = {} } = given as Required<NewWorkflow>
    const rows = steps.map(({ name, type, config, onSuccess, onFailure }, index) => ({
      index,
      name,
      type,
      next: methodsOf(config, onSuccess, index, steps.length).join(' or '),
      onFailure: onFailure === undefined ? 'the run fails' : String(onFailure),
    }))
    shell.print.list(rows, columns, '')
    for (const at of nextRuns(rules, triggerType, triggerConfig, { zone, after: shell.clock.now() }))
      shell.note(`Runs ${at}`)
    const unreached = unreachedOf(steps)
    for (const at of unreached) shell.note(`Step ${at} cannot be reached: no step leads to it.`)
    if (unreached.length) throw new CheckFailed()
  },
})

type Steps = Required<NewWorkflow>['steps']

function methodsOf(
  config: Steps[number]['config'],
  onSuccess: number | undefined,
  at: number,
  count: number,
): string[] {
  const after = onSuccess ?? at + 1
  const { onTrue = after, onFalse = after } = config as { onTrue?: number; onFalse?: number }
  const methods = 'expression' in config ? [onTrue, onFalse] : [after]
  return [...new Set(methods)].map((way) => (way < count ? String(way) : 'end'))
}

/** The steps that no way from the first one leads to. */
function unreachedOf(steps: Steps): number[] {
  const reached = new Set([0])
  for (const at of reached) {
    const { config, onSuccess, onFailure } = steps[at]!
    const methods = methodsOf(config, onSuccess, at, steps.length).filter((way) => way !== 'end')
    for (const way of [...methods.map(Number), ...(onFailure === undefined ? [] : [onFailure])]) reached.add(way)
  }
  return steps.flatMap((_, at) => (reached.has(at) ? [] : [at]))
}

function nextRuns(
  { nextOf }: Rules,
  type: Required<NewWorkflow>['triggerType'],
  config: Record<string, unknown>,
  { zone, after }: { zone: string; after: number },
): string[] {
  const found: string[] = []
  for (let at: number | null = after; found.length < NEXT_RUNS; ) {
    at = nextOf(type, config, { zone, after: at })
    if (at === null) break
    found.push(iso(at))
  }
  return found
}
