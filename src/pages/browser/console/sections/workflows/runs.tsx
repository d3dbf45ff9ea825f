import { type ReactNode, useEffect, useState } from 'react'
import type { StepResult, Workflow, WorkflowRun } from '../../../../../automation/workflows-schema'
import { Actions } from '../../shell/actions'
import { useGet } from '../../shell/api'
import { Button, Chip, Code } from '../../ui/controls'
import { field } from '../../ui/fields'
import { duration, money, Time } from '../../ui/format'
import { Shown } from '../../ui/states'
import { KINDS } from './config'

export const TRIGGERS = { manual: 'by call', schedule: 'by time', event: 'by event' } as const

/** The symbol of each state of a run, a step and a node. */
export const STATES_OF_RUN = {
  waiting: 'wait',
  running: 'run',
  paused: 'warn',
  completed: 'good',
  failed: 'bad',
  skipped: 'off',
} as const

const took = (from: string | null, to: string | null) =>
  from ? duration(Math.max(0, (to ? Date.parse(to) : Date.now()) - Date.parse(from))) : '–'

/** The runs of a workflow, newest first, each with the timeline of its steps. `children` come before its actions. */
export function Runs({ of, children }: { of: Workflow; children: ReactNode }) {
  const path = `/workflows/${of.id}/runs`
  const runs = useGet<{ runs: WorkflowRun[] }>(path, {}, { everyMs: 5_000 })
  const [open, setOpen] = useState<string | null>()
  const waiting = runs.data?.runs.find(({ status }) => status === 'paused')?.id
  // A run that waits for an approval is opened at once.
  useEffect(() => setOpen((now) => (now === undefined ? waiting : now)), [waiting])
  return (
    <>
      <Actions
        touches={[path]}
        permission="manageConnectors"
        actions={[
          {
            label: 'Run…',
            isMain: true,
            path: `/workflows/${of.id}/run`,
            fields: [
              field('triggerData', 'Input, as JSON', { kind: 'json', rows: 4 }),
              field('stepwise', 'Wait for approval after each step', { kind: 'check' }),
            ],
            values: { triggerData: {} },
          },
        ]}
      >
        {children}
      </Actions>
      <Shown of={runs} rows={3}>
        {({ runs: found }) =>
          found.length === 0 ? (
            <p className="faint">No runs yet.</p>
          ) : (
            <ul className="plain-list">
              {found.map((run) => (
                <li key={run.id} className="run">
                  <Chip state={STATES_OF_RUN[run.status]}>{run.status === 'paused' ? 'waiting' : run.status}</Chip>
                  <span>
                    <Button
                      kind="plain"
                      className="link"
                      aria-expanded={open === run.id}
                      onClick={() => setOpen(open === run.id ? null : run.id)}
                    >
                      {run.stepsCompleted} of {of.steps.length} steps, {took(run.startedAt, run.completedAt)}
                    </Button>
                    <small>{run.error ?? `started ${TRIGGERS[run.triggerType]}`}</small>
                  </span>
                  <Time at={run.startedAt} />
                  {open === run.id && <Run run={run} path={path} workflow={of} />}
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </>
  )
}

function Run({ run, path, workflow }: { run: WorkflowRun; path: string; workflow: Workflow }) {
  const at = `${path}/${run.id}`
  const input = run.triggerData ?? {}
  const comment = [field('comment', 'Comment', { kind: 'area' })]
  const isOpen = run.status === 'running' || run.status === 'paused'
  return (
    <div className="run-body">
      <Actions
        touches={[path]}
        permission="manageConnectors"
        actions={[
          run.status === 'paused' && { label: 'Approve…', path: `${at}/approve`, fields: comment },
          run.status === 'paused' && { label: 'Reject…', path: `${at}/reject`, fields: comment },
          isOpen && {
            label: 'Cancel',
            path: `${at}/cancel`,
            danger: true,
            ask: 'The run ends after its current step.',
          },
          !isOpen && { label: 'Run again', path: `/workflows/${workflow.id}/run`, body: { triggerData: input } },
        ]}
      />
      <ol className="waterfall">
        {run.stepResults.map((step) => (
          <StepLine key={step.index} step={step} run={run} />
        ))}
      </ol>
      {run.warnings.map((warning) => (
        <p key={warning} className="notice warn">
          {warning}
        </p>
      ))}
    </div>
  )
}

function StepLine({ step, run }: { step: StepResult; run: WorkflowRun }) {
  const begin = Date.parse(run.startedAt)
  const end = Math.max(begin + 1, run.completedAt ? Date.parse(run.completedAt) : Date.now())
  const from = step.startedAt ? Date.parse(step.startedAt) : begin
  const to = step.completedAt ? Date.parse(step.completedAt) : end
  const share = (ms: number) => `${Math.max(0, Math.min(100, (ms / (end - begin)) * 100))}%`
  return (
    <li>
      <span>
        <Chip state={STATES_OF_RUN[step.status]}>{step.status}</Chip> <b>{step.name}</b>{' '}
        <small>{KINDS[step.type]}</small>
      </span>
      <span>
        {took(step.startedAt, step.completedAt)} {step.costCents > 0 && money(step.costCents)}
      </span>
      <span className="track" aria-hidden="true">
        <span
          className={step.status === 'failed' ? 'failed-step' : ''}
          style={{ left: share(from - begin), width: share(to - from) }}
        />
      </span>
      {step.error && <small className="problem">{step.error}</small>}
      {step.output !== null && step.output !== undefined && (
        <details>
          <summary>Output</summary>
          <Code
            text={typeof step.output === 'string' ? step.output : JSON.stringify(step.output, null, 2)}
            label="output"
          />
        </details>
      )}
    </li>
  )
}
