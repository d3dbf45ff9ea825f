import { useState } from 'react'
import type { Step, StepType, Workflow } from '../../../../../automation/workflows-schema'
import { Actions, deletion } from '../../shell/actions'
import { Form, savingOf, unsaved } from '../../shell/form'
import { Choices, Select, StartWith, Text } from '../../ui/controls'
import { type FormField, field, JsonField } from '../../ui/fields'
import { Rows } from '../../ui/rows'
import { ConfigFields, KINDS } from './config'
import { Runs } from './runs'

/** Initial settings of a new step of each kind. */
const BEGINNINGS: Record<StepType, Record<string, unknown>> = {
  ai_transform: { prompt: 'Summarize: {{trigger.text}}' },
  notification: { channel: 'in_app', to: 'me', subject: 'Done', body: '{{steps.0.output.text}}' },
  http: { url: 'https://example.com/hook', method: 'POST', body: { text: '{{steps.0.output.text}}' } },
  condition: { expression: 'trigger.amount > 100' },
  delay: { seconds: 60 },
  approval: { message: 'Is this right?' },
  skill: { slug: 'email-drafter', input: '{{trigger.text}}' },
  tool: { name: 'calculator', arguments: {} },
  event: { eventType: 'order.checked', payload: {} },
  transform: { template: { text: '{{trigger.text}}' } },
  output: { format: 'text', template: '{{steps.0.output.text}}' },
}
const TEMPLATES: Record<string, Step[]> = {
  'Summarize and tell': [
    { type: 'ai_transform', name: 'Summarize', config: BEGINNINGS.ai_transform },
    { type: 'output', name: 'Answer', config: BEGINNINGS.output },
  ],
  'Ask a person first': [
    { type: 'ai_transform', name: 'Draft', config: { prompt: 'Draft a reply to: {{trigger.text}}' } },
    { type: 'approval', name: 'A person checks', config: BEGINNINGS.approval },
    { type: 'output', name: 'Answer', config: BEGINNINGS.output },
  ],
  'Call another server': [
    { type: 'http', name: 'Call', config: BEGINNINGS.http },
    { type: 'output', name: 'Answer', config: BEGINNINGS.output },
  ],
}

const CRON = 'Such as 0 9 * * 1-5: at 9 on working days.'
/** What else is to be known about each way to start. */
const TRIGGERS: Record<Workflow['triggerType'], readonly FormField[]> = {
  manual: [],
  schedule: [
    field('triggerConfig.cron', 'Times', { required: true, help: CRON }),
    field('triggerConfig.timezone', 'Time zone', { help: 'Such as Europe/Vienna. Empty: UTC.' }),
  ],
  event: [field('triggerConfig.eventPattern', 'Events', { required: true, help: 'Such as order.created or order.*' })],
}

export function WorkflowBody({ row, close }: { row: Workflow; close(): void }) {
  const [part, setPart] = useState<'runs' | 'steps'>('runs')
  const parts = <Choices label="Part" value={part} onChange={setPart} choices={{ runs: 'Runs', steps: 'Steps' }} />
  if (part === 'runs') return <Runs of={row}>{parts}</Runs>
  return (
    <>
      {parts}
      <WorkflowEditor row={row} close={close} />
    </>
  )
}

/** A workflow's trigger and steps, as forms or as JSON. */
export function WorkflowEditor({ row: of, close }: { row?: Workflow; close(): void }) {
  const [steps, setSteps] = useState<Step[]>(() => of?.steps ?? [])
  const [trigger, setTrigger] = useState(of?.triggerType ?? 'manual')
  const [view, setView] = useState<'forms' | 'json'>('forms')
  const change = (next: Step[]) => {
    unsaved.set(true)
    setSteps(next)
  }
  const saving = savingOf('/workflows', of, 'Create workflow')
  const config = of?.triggerConfig ?? {}
  return (
    <>
      <Form
        key={trigger}
        fields={[
          field('name', 'Name', { required: true }),
          field('enabled', 'On', { kind: 'check' }),
          ...TRIGGERS[trigger],
        ]}
        values={of ? { ...of, triggerConfig: config } : { enabled: true }}
        {...saving}
        more={(body) => ({ triggerConfig: {}, ...body, triggerType: trigger, steps })}
        permission="manageConnectors"
        onCancel={of ? undefined : close}
        onDone={of ? undefined : close}
      >
        <Choices
          isNamed
          label="Starts"
          value={trigger}
          onChange={setTrigger}
          choices={{ manual: 'API call', schedule: 'Schedule', event: 'Event' }}
        />
        <div className="between">
          <h3>Steps</h3>
          <Choices label="View" value={view} onChange={setView} choices={{ forms: 'Forms', json: 'JSON' }} />
        </div>
        {steps.length === 0 && <StartWith of={TEMPLATES} onChoose={change} />}
        {view === 'json' ? (
          <JsonField
            label="Steps as JSON"
            value={steps}
            rows={16}
            onChange={(value) => Array.isArray(value) && change(value)}
          />
        ) : (
          <Rows
            name="step"
            rows={steps}
            onChange={change}
            fresh={(): Step => ({ type: 'ai_transform', name: 'Ask', config: BEGINNINGS.ai_transform })}
          >
            {(step, set, at) => (
              <>
                <div className="pair">
                  <Text label="Name" value={step.name} required onChange={(text) => set({ name: text })} />
                  <Select
                    label="Kind"
                    value={step.type}
                    choices={KINDS}
                    onChange={(kind) => set({ type: kind as StepType, config: BEGINNINGS[kind as StepType] })}
                  />
                  <Next {...{ steps, at, set }} on="onSuccess" label="After success" usual="the next step" />
                  <Next {...{ steps, at, set }} on="onFailure" label="After failure" usual="the run ends" />
                </div>
                <ConfigFields
                  key={step.type}
                  kind={step.type}
                  value={step.config}
                  onChange={(config) => set({ config })}
                />
              </>
            )}
          </Rows>
        )}
      </Form>
      {of && (
        <Actions
          touches={['/workflows']}
          permission="manageConnectors"
          actions={[
            deletion(saving.path, 'The workflow and its record of runs are gone. This cannot be undone.', close),
          ]}
        />
      )}
    </>
  )
}

type NextProps = {
  on: 'onSuccess' | 'onFailure'
  label: string
  /** What happens where nothing is chosen. */
  usual: string
  at: number
  steps: readonly Step[]
  set(changes: Partial<Step>): void
}

const Next = ({ on, label, usual, at, steps, set }: NextProps) => (
  <Select
    label={label}
    value={String(steps[at]![on] ?? '')}
    choices={[
      ['', usual],
      ...steps.flatMap((step, other) => (other === at ? [] : [[String(other), `${other + 1}. ${step.name}`] as const])),
    ]}
    onChange={(place) => set({ [on]: place === '' ? undefined : Number(place) })}
  />
)
