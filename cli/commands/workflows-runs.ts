import type { StepResult, Workflow, WorkflowRun } from '../../src/automation/workflows-schema'
import { randomBase62 } from '../../src/kernel/crypto'
import { apiOf } from '../api'
import { defineCommand } from '../command'
import { CheckFailed, EXIT, expectData, notFoundFailure } from '../failure'
import { column, idColumn } from '../output/columns'
import { pageFlags, printPages } from '../pages'
import { readValueFile } from '../preference-file'
import { resourceOver } from '../resource'
import { everyOf, resolveRuleSet } from '../rule-set'
import type { Shell } from '../shell'
import { argument, choice, duration, flag, optional, text } from '../words'

const POLL_MS = 1_000
const PATIENCE_MS = 600_000

const columns = [
  idColumn,
  column('status', 'STATUS'),
  column('stepsCompleted', 'STEPS', { kind: 'number' }),
  column('triggerType', 'TRIGGER'),
  column('error', 'ERROR'),
  column('startedAt', 'BEGUN', { kind: 'time' }),
  column('completedAt', 'ENDED', { kind: 'time' }),
  column('output', 'OUTPUT', { wide: true }),
]

const stepColumns = [
  column('index', 'STEP', { kind: 'number' }),
  column('name', 'NAME'),
  column('type', 'TYPE'),
  column('status', 'STATUS'),
  column('error', 'ERROR'),
  column('output', 'OUTPUT'),
  column('costCents', 'COST', { kind: 'money', min: true }),
  column('startedAt', 'BEGUN', { kind: 'time', wide: true }),
  column('completedAt', 'ENDED', { kind: 'time' }),
]

const common = { apis: ['tenant', 'operator'], columns, offline: false } as const
const WORKFLOW = argument('id or name of the workflow')
const RUN = argument('id of the run')
const ID = '4f0b7f0e-6f7e-4d0a-9a52-0d9f6b1f2c11'
const RUN_ID = '0c9a3f52-1f0e-4a7b-8f15-2e1d5b7a9c33'

const runWorkflow = defineCommand({
  ...common,
  path: 'workflows run',
  summary: 'Run a workflow and show what its steps did',
  about:
    'Waits until the run ends or pauses, and draws each step as it ends. Exits 0 when it is completed, 9 when it failed, and 8 when it is paused or still running.',
  examples: [`workflows run ${ID}`, `workflows run "Daily report" --data data.json --step`],
  impact: 'write',
  exits: [3, 5, 8, 9],
  args: { workflow: WORKFLOW },
  flags: {
    step: flag('pause after each step, and ask before the next'),
    data: text('FILE', 'trigger data, as JSON; - reads stdin'),
    wait: flag("wait up to ten minutes, instead of the server's 25 seconds"),
  },
  async run(shell, { workflow, data, wait, step }) {
    const triggerData = data ? ((await readValueFile(shell, data)) as Record<string, unknown>) : {}
    if (shell.planned(`run workflow ${workflow}`)) return
    const { one } = await workflowOver(shell, workflow)
    const headers = { 'idempotency-key': shell.globals.idempotencyKey ?? randomBase62(24) }
    const input = step ? { triggerData, stepwise: true } : { triggerData }
    const { run } = expectData(await one.run.post(input, { headers }))
    if (step) return stepThrough(shell, one, run)
    if (!wait || run.completedAt !== null) return finish(shell, run)
    await follow(shell, one, run.id, PATIENCE_MS)
  },
})

const listRuns = defineCommand({
  ...common,
  path: 'workflows runs',
  summary: 'List the runs of a workflow, newest first, or the steps of one run',
  about:
    'With the id of a run it lists its steps with times and outputs. With --watch it is read again every two seconds.',
  examples: [`workflows runs ${ID}`, `workflows runs ${ID} --status paused --json`],
  impact: 'read',
  exits: [3],
  watchable: true,
  args: { workflow: WORKFLOW, run: optional('id of the run') },
  flags: { status: choice(['running', 'paused', 'completed', 'failed'], 'only in this state'), ...pageFlags },
  async run(shell, { workflow, run: runId, status, ...paging }) {
    const { one } = await workflowOver(shell, workflow)
    if (runId !== undefined) {
      const { run } = expectData(await one.runs({ runId: encodeURIComponent(runId) }).get())
      return shell.print.list(run.stepResults, stepColumns, 'No step has started.')
    }
    const only = status ? { status } : {}
    await printPages(shell, paging, {
      page: async (input) => {
        const found = expectData(await one.runs.get({ query: { ...input, ...only } }))
        return { items: found.runs, next: found.next_cursor }
      },
      columns,
      empty: 'No runs yet. Start one: svc-admin workflows run ID',
    })
  },
})

const watchRun = defineCommand({
  ...common,
  path: 'workflows watch',
  summary: 'Follow a run, step by step, until it ends',
  about:
    'Draws each step with its state and time, on stderr. Exits 0 when the run is completed and 9 when it failed. Exits 8 when time runs out. The id of the run alone is enough.',
  examples: [`workflows watch ${RUN_ID}`, `workflows watch "Daily report" ${RUN_ID} --within 1h --json`],
  impact: 'read',
  exits: [3, 8, 9],
  args: {
    workflow: argument('id or name of the workflow, or only the id of the run'),
    run: optional('id of the run'),
  },
  flags: { within: duration('TIME', 'longest wait; 10m by default') },
  async run(shell, { workflow, run: runId, within = PATIENCE_MS }) {
    const found = runId === undefined ? await workflowOfRun(shell, workflow) : await workflowOver(shell, workflow)
    await follow(shell, found.one, runId ?? workflow, within)
  },
})

/** Asks after each step. A run that is left waits for workflows approve, for a day. */
async function stepThrough(shell: Shell, one: Awaited<ReturnType<typeof workflowOver>>['one'], begun: WorkflowRun) {
  let [run, drawn] = [begun, 0]
  const until = shell.clock.monotonic() + PATIENCE_MS
  while (run.completedAt === null) {
    if (run.status === 'running') {
      if (shell.clock.monotonic() >= until || shell.signal.aborted) break
      await shell.clock.sleep(POLL_MS, shell.signal)
    } else {
      for (const step of run.stepResults.slice(drawn)) shell.note(lineOf(step))
      drawn = run.stepResults.length
      // What waits for an approver, or for a time, is not for this command to decide.
      if (run.stepResults.at(-1)?.status === 'paused' || !shell.prompt.confirm('Continue with the next step?')) break
      expectData(await one.runs({ runId: run.id }).approve.post({}))
    }
    run = expectData(await one.runs({ runId: run.id }).get()).run
  }
  for (const step of run.stepResults.slice(drawn)) shell.note(lineOf(step))
  finish(shell, run, false)
}

/** Draws the steps of a run as they end. */
async function follow(
  shell: Shell,
  one: Awaited<ReturnType<typeof workflowOver>>['one'],
  runId: string,
  within: number,
) {
  const until = shell.clock.monotonic() + within
  let drawn: string[] = []
  for (;;) {
    const { run } = expectData(await one.runs({ runId }).get())
    const lines = run.stepResults.map(lineOf)
    for (const line of lines.filter((one) => !drawn.includes(one))) shell.note(line)
    drawn = lines
    if (run.completedAt !== null) return finish(shell, run, false)
    if (shell.clock.monotonic() >= until || shell.signal.aborted) break
    await shell.clock.sleep(POLL_MS, shell.signal)
  }
  shell.exitCode = shell.signal.aborted ? EXIT.interrupted : EXIT.pending
  shell.note('The run is still going.')
}

const decision = (word: 'approve' | 'reject' | 'cancel', summary: string, about: string) =>
  defineCommand({
    ...common,
    danger: word === 'approve' ? 'none' : 'moderate',
    path: `workflows ${word}`,
    summary,
    about,
    examples: [`workflows ${word} ${ID} ${RUN_ID}`, `workflows ${word} ${ID} ${RUN_ID} --json`],
    impact: 'write',
    exits: [3, 5],
    args: { workflow: WORKFLOW, run: RUN },
    flags: { comment: text('TEXT', 'a note for the record') },
    async run(shell, { workflow, run: runId, comment }) {
      if (shell.planned(`${word} run ${runId}`)) return
      const { one } = await workflowOver(shell, workflow)
      const routes = one.runs({ runId })
      const reply = word === 'cancel' ? await routes.cancel.post() : await routes[word].post(comment ? { comment } : {})
      shell.print.item(expectData(reply).run, columns)
    },
  })

const MARKS = { completed: 'ok  ', failed: 'fail', skipped: 'skip', paused: 'wait' } as const

/** `ok   2 Ask an engine (ai_transform) 1.2 s` */
function lineOf({ index, name, type, status, error, startedAt, completedAt }: StepResult): string {
  const took =
    startedAt && completedAt ? ` ${((Date.parse(completedAt) - Date.parse(startedAt)) / 1_000).toFixed(1)} s` : ''
  return `${MARKS[status]} ${index} ${name} (${type})${took}${error ? `: ${error}` : ''}`
}

function finish(shell: Shell, run: WorkflowRun, draws = true): void {
  if (draws) for (const step of run.stepResults) shell.note(lineOf(step))
  shell.print.item(run, columns)
  if (run.status === 'failed') throw new CheckFailed()
  if (run.status !== 'completed') shell.exitCode = EXIT.pending
}

async function workflowOver(shell: Shell, word: string) {
  const { api } = await apiOf(shell)
  const id = await resolveRuleSet(await resourceOver(shell, 'workflows'), word, 'workflow')
  return { id, one: api.workflows({ id: encodeURIComponent(id) }) }
}

/** The workflow that this is a run of: that which ran last is asked first. @throws CommandFailed 3 for none */
async function workflowOfRun(shell: Shell, runId: string) {
  const { api } = await apiOf(shell)
  const all = (await everyOf(await resourceOver(shell, 'workflows'))) as Workflow[]
  for (const { id } of all.sort((a, b) => (b.lastRunAt ?? '').localeCompare(a.lastRunAt ?? ''))) {
    const one = api.workflows({ id })
    const reply = await one.runs({ runId: encodeURIComponent(runId) }).get()
    if (reply.status === 404) continue
    expectData(reply)
    return { id, one }
  }
  throw notFoundFailure(`No run has the id "${runId}".`, 'svc-admin workflows runs WORKFLOW lists its runs')
}

export const workflowRunCommands = [
  runWorkflow,
  listRuns,
  watchRun,
  decision(
    'approve',
    'Approve the step that a paused run waits for',
    'The run continues with its next step. Recorded as workflow.approved.',
  ),
  decision(
    'reject',
    'Reject the step that a paused run waits for',
    'The run fails, unless the step names another step to continue with. Recorded as workflow.rejected.',
  ),
  decision(
    'cancel',
    'Cancel a run that has not ended',
    'The run becomes failed with the error cancelled. Recorded as workflow.cancelled.',
  ),
]
