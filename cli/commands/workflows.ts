import type { NewWorkflow, StepResult, Workflow, WorkflowRun } from '../../src/automation/workflows-schema'
import { iso } from '../../src/kernel/clock'
import { apiOf, columnsOf, commandsOf, defined, onceHeaders } from '../command'
import { CheckFailed, EXIT, expectData, notFoundFailure, usageFailure } from '../failure'
import { readValueFile } from '../files'
import { everyEntry, pageIn, poll } from '../pages'
import { everyOf, idAmong, resolveRuleSet, resourceOver } from '../resource'
import type { Shell } from '../shell'
import { argument, choice, duration, flag, optional, text } from '../words'
import { fileCommands } from './resource-commands'

const ID = '4f0b7f0e-6f7e-4d0a-9a52-0d9f6b1f2c11'

const columns = columnsOf`id ID, name NAME, enabled ON flag`

const runsColumns = columnsOf`
  id, status STATUS, stepsCompleted STEPS number, triggerType TRIGGER, error ERROR, startedAt BEGUN time,
  completedAt ENDED time, output OUTPUT wide`

const idFor = idAmong(async (shell, { workflow }) => {
  const { runs } = await workflowOver(shell, String(workflow))
  return everyEntry((query) => pageIn(runs.get({ query }), 'runs'))
})
const args = {
  workflow: argument('id or name of the workflow'),
  run: { ...argument('id of the run, or the start of it'), idFor },
}
const command = commandsOf('workflows', { apis: ['tenant', 'operator'], offline: false, columns: runsColumns, args })

const enabling = (verb: 'enable' | 'disable', about: string) =>
  command`${verb} WORKFLOW (offline, shows workflow): ${verb === 'enable' ? 'Enable' : 'Disable'} a workflow
  ${about}
  $ workflows ${verb} 4f0b7f0e-…
  $ workflows ${verb} "Daily news" --json`({
    columns,
    action: ({ workflow }) => `${verb} workflow ${workflow}`,
    request: async ({ shell }, { workflow }) =>
      (await workflowOver(shell, workflow)).patch({ enabled: verb === 'enable' }),
  })

const POLL_MS = 1_000
const PATIENCE_MS = 600_000

const stepColumns = columnsOf`
  index STEP number, name NAME, type TYPE, status STATUS, error ERROR, output OUTPUT, costCents COST money min,
  startedAt BEGUN time wide, completedAt ENDED time`

const RUN_ID = '0c9a3f52-1f0e-4a7b-8f15-2e1d5b7a9c33'

type Routes = Awaited<ReturnType<typeof workflowOver>>

/** Asks after each step. An abandoned run waits a day for `workflows approve`. */
async function stepThrough(shell: Shell, one: Routes, begun: WorkflowRun) {
  let [run, drawn] = [begun, 0]
  const until = shell.clock.monotonic() + PATIENCE_MS
  while (run.completedAt === null) {
    if (run.status === 'running') {
      if (shell.clock.monotonic() >= until || shell.signal.aborted) break
      await shell.clock.sleep(POLL_MS, shell.signal)
    } else {
      for (const step of run.stepResults.slice(drawn)) shell.note(lineOf(step))
      drawn = run.stepResults.length
      // A run that waits for an approver or for a time is not this command's to continue.
      if (run.stepResults.at(-1)?.status === 'paused' || !shell.prompt.confirm('Continue with the next step?')) break
      expectData(await one.runs({ runId: run.id }).approve.post({}))
    }
    run = expectData(await one.runs({ runId: run.id }).get()).run
  }
  for (const step of run.stepResults.slice(drawn)) shell.note(lineOf(step))
  finish(shell, run, false)
}

/** Prints the steps of a run as they end. */
async function follow(shell: Shell, one: Routes, runId: string, within: number) {
  let drawn: string[] = []
  const ended = await poll(shell, { within, every: POLL_MS }, async () => {
    const { run } = expectData(await one.runs({ runId }).get())
    const lines = run.stepResults.map(lineOf)
    for (const line of lines.filter((one) => !drawn.includes(one))) shell.note(line)
    drawn = lines
    return run.completedAt === null ? undefined : run
  })
  if (ended) return finish(shell, ended, false)
  shell.note('The run is still going.')
}

const decision = (word: 'approve' | 'reject' | 'cancel', summary: string, about: string) =>
  command`${word} WORKFLOW RUN (shows run): ${summary}
  ${about}
  $ workflows ${word} ${ID} ${RUN_ID}`({
    danger: word === 'approve' ? 'none' : 'moderate',
    flags: { comment: text('TEXT', 'a note for the record') },
    action: ({ run: runId }) => `${word} run ${runId}`,
    async request({ shell }, { workflow, run: runId, comment }) {
      const routes = (await workflowOver(shell, workflow)).runs({ runId })
      return word === 'cancel' ? routes.cancel.post() : routes[word].post(comment ? { comment } : {})
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
  shell.print.item(run, runsColumns)
  if (run.status === 'failed') throw new CheckFailed()
  if (run.status !== 'completed') shell.exitCode = EXIT.pending
}

async function workflowOver(shell: Shell, word: string) {
  const { api } = await apiOf(shell)
  const id = await resolveRuleSet(await resourceOver(shell, 'workflows'), word, 'workflow')
  return api.workflows({ id })
}

const validateColumns = columnsOf`index STEP number, name NAME, type TYPE, next THEN, onFailure IF IT FAILS`
const NEXT_RUNS = 5

type Steps = Required<NewWorkflow>['steps']

function branchesOf({ config, onSuccess }: Steps[number], at: number, count: number): string[] {
  const after = onSuccess ?? at + 1
  const { onTrue = after, onFalse = after } = config as { onTrue?: number; onFalse?: number }
  const branches = 'expression' in config ? [onTrue, onFalse] : [after]
  return [...new Set(branches)].map((branch) => (branch < count ? String(branch) : 'end'))
}

export const workflowCommands = [
  /** Workflows (docs/api.md 10). */
  ...fileCommands({
    path: 'workflows',
    resource: 'workflows',
    what: 'workflow',
    columns: columnsOf`
    id, name NAME, triggerType TRIGGER, enabled ON flag,
    steps STEPS ${({ steps }) => String((steps as unknown[]).length)}, nextRunAt NEXT time, lastRunAt LAST time,
    createdAt CREATED time wide, updatedAt CHANGED time wide`,
    id: ID,
    file: 'workflow.json',
    arg: 'workflow',
    stays: 'Runs that already started will finish.',
  }),
  enabling('enable', 'Its schedule continues from now. Events that happened while it was disabled do not start runs.'),
  enabling('disable', 'Runs that already started will finish.'),
  /** Checks a workflow as the server would, and prints when it would run (docs/api.md 10). */
  command`validate (host, offline, exits 9): Check a workflow file as the server would, without a server
  Checks each step, its next steps, placeholders, expressions and addresses, and the trigger. Prints the steps, and for a schedule its next five runs. Exits 9 when something is wrong, or when a step cannot be reached.
  $ workflows validate workflow.yaml
  $ workflows validate workflow.json --zone Europe/Vienna --json`({
    columns: validateColumns,
    args: { file: argument('file of JSON, JSONC, YAML or TOML; - reads stdin') },
    flags: { zone: text('ZONE', 'time zone of the account, for a schedule without its own; UTC by default') },
    async run(shell, { file, zone = 'UTC' }) {
      const given = await readValueFile(shell, file)
      // The rules are the server's, and large, so only this command loads them.
      const rules = await import('../../src/automation/workflows-review')
      if (typeof given !== 'object' || given === null)
        throw usageFailure('The file must contain a workflow as an object.')
      const problem = rules.reviewWorkflow(given)
      if (problem) {
        shell.note(problem)
        throw new CheckFailed()
      }
      const { steps, triggerType, triggerConfig = {} } = given as Required<NewWorkflow>
      const rows = steps.map((step, index) => {
        const { name, type, onFailure = 'the run fails' } = step
        const next = branchesOf(step, index, steps.length).join(' or ')
        return { index, name, type, next, onFailure: String(onFailure) }
      })
      shell.print.list(rows, validateColumns, '')
      let after: number | null = shell.clock.now()
      for (let runs = 0; runs < NEXT_RUNS && after !== null; runs += 1) {
        after = rules.nextOf(triggerType, triggerConfig, { zone, after })
        if (after !== null) shell.note(`Runs ${iso(after)}`)
      }
      const reached = new Set([0])
      for (const at of reached) {
        const { onFailure } = steps[at]!
        const branches = branchesOf(steps[at]!, at, steps.length).filter((branch) => branch !== 'end')
        for (const branch of [...branches.map(Number), ...(onFailure === undefined ? [] : [onFailure])])
          reached.add(branch)
      }
      const unreached = [...steps.keys()].filter((at) => !reached.has(at))
      for (const at of unreached) shell.note(`Step ${at} cannot be reached: no step leads to it.`)
      if (unreached.length) throw new CheckFailed()
    },
  }),
  command`run WORKFLOW (exits 3 5 8 9): Run a workflow and show what its steps did
  Waits until the run ends or pauses, and draws each step as it ends. Exits 0 when it is completed, 9 when it failed, and 8 when it is paused or still running.
  $ workflows run ${ID}
  $ workflows run "Daily report" --data data.json --step`({
    flags: {
      step: flag('pause after each step, and ask before the next'),
      data: text('FILE', 'trigger data, as JSON; - reads stdin'),
      wait: flag("wait up to ten minutes, instead of the server's 25 seconds"),
    },
    find: async (shell, { data }) => ({
      triggerData: data ? ((await readValueFile(shell, data)) as Record<string, unknown>) : {},
    }),
    action: ({ workflow }) => `run workflow ${workflow}`,
    async run(shell, { workflow, triggerData, wait, step }) {
      const one = await workflowOver(shell, workflow)
      const input = step ? { triggerData, stepwise: true } : { triggerData }
      const { run } = expectData(await one.run.post(input, { headers: onceHeaders(shell) }))
      if (step) return stepThrough(shell, one, run)
      if (!wait || run.completedAt !== null) return finish(shell, run)
      await follow(shell, one, run.id, PATIENCE_MS)
    },
  }),
  command`runs WORKFLOW (pages items): List the runs of a workflow, newest first, or the steps of one run
  With the id of a run it lists its steps with times and outputs. With --watch it is read again every two seconds.
  $ workflows runs ${ID}
  $ workflows runs ${ID} --status paused --json`({
    args: { run: { ...optional('id of the run, or the start of it'), idFor } },
    flags: { status: choice(['running', 'paused', 'completed', 'failed'], 'only in this state') },
    async answer({ shell, page }, { workflow, run: runId, status }): Promise<object> {
      const one = await workflowOver(shell, workflow)
      if (runId === undefined) return pageIn(one.runs.get({ query: defined({ ...page, status }) }), 'runs')
      const { run } = expectData(await one.runs({ runId }).get())
      return { items: run.stepResults, next: null, columns: stepColumns, empty: 'No step has started.' }
    },
    empty: 'No runs yet. Start one: svc-admin workflows run ID',
  }),
  command`watch (exits 3 8 9): Follow a run, step by step, until it ends
  Draws each step with its state and time, on stderr. Exits 0 when the run is completed and 9 when it failed. Exits 8 when time runs out. The id of the run alone, or the start of it, is enough.
  $ workflows watch ${RUN_ID}
  $ workflows watch "Daily report" ${RUN_ID} --within 1h --json`({
    args: {
      workflow: argument('id or name of the workflow, or only the id of the run'),
      run: { ...optional('id of the run, or the start of it'), idFor },
    },
    flags: { within: duration('TIME', 'longest wait; 10m by default') },
    async run(shell, { workflow, run: runId, within = PATIENCE_MS }) {
      if (runId !== undefined) return follow(shell, await workflowOver(shell, workflow), runId, within)
      // Looks in the most recently run workflow first.
      const all = (await everyOf(await resourceOver(shell, 'workflows'))) as Workflow[]
      const { workflows } = (await apiOf(shell)).api
      for (const { id } of all.sort((a, b) => (b.lastRunAt ?? '').localeCompare(a.lastRunAt ?? ''))) {
        const found = await idFor(shell, workflow, { workflow: id })
        const reply = await workflows({ id }).runs({ runId: found }).get()
        if (reply.status !== 404 && expectData(reply)) return follow(shell, workflows({ id }), found, within)
      }
      throw notFoundFailure(`No run has the id "${workflow}".`, 'svc-admin workflows runs WORKFLOW lists its runs')
    },
  }),
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
