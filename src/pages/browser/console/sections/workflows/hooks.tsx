import type { Hook, HookHistory, HookPreset } from '../../../../../automation/schema'
import type { SkillEntry } from '../../../../../skills/schema'
import { Actions } from '../../shell/actions'
import { useGet } from '../../shell/api'
import { Form } from '../../shell/form'
import { defineScreen } from '../../shell/screen'
import { Chip, Id } from '../../ui/controls'
import { Facts } from '../../ui/facts'
import { Ago, money, plural, Time } from '../../ui/format'
import { Shown } from '../../ui/states'

const State = ({ enabled, disabled_reason }: Hook) =>
  enabled ? (
    <Chip state="good">on</Chip>
  ) : (
    <Chip state={disabled_reason ? 'bad' : 'off'}>{disabled_reason ? 'paused after failures' : 'off'}</Chip>
  )

const OUTCOMES = {
  running: 'run',
  completed: 'good',
  failed: 'bad',
  skipped_cooldown: 'wait',
  skipped_credits: 'warn',
  skipped_cap: 'warn',
} as const

function HookBody({ row: hook, close }: { row: Hook; close(): void }) {
  const path = `/hooks/${hook.id}`
  const history = useGet<HookHistory>(`${path}/executions`)
  return (
    <>
      <Actions
        touches={['/hooks']}
        permission="manageWebhooks"
        actions={[
          { label: hook.enabled ? 'Switch off' : 'Switch on', method: 'PATCH', path, body: { enabled: !hook.enabled } },
          {
            label: 'Change…',
            method: 'PATCH',
            path,
            values: hook,
            fields: [
              { name: 'name', label: 'Name', required: true },
              { name: 'cooldown_minutes', label: 'Minutes between runs', kind: 'number', min: 1, max: 1440 },
              {
                name: 'config',
                label: 'Settings, as JSON',
                kind: 'json',
                help: '"prompt" tells the skill what to do.',
              },
            ],
          },
          {
            label: 'Delete…',
            method: 'DELETE',
            path,
            danger: true,
            ask: 'Nothing runs any more when this happens.',
            done: close,
          },
        ]}
      />
      <Facts
        facts={[
          ['State', <State key="state" {...hook} />],
          ['Event', <code key="event">{hook.event_pattern}</code>],
          ['Skill', hook.skill_slug],
          ['Between runs', plural(hook.cooldown_minutes, 'minute')],
          ['Failures in a row', hook.consecutive_failures],
          ['Last fired', hook.last_fired_at ? <Ago key="last" at={hook.last_fired_at} /> : 'never'],
          ['Id', <Id key="id" id={hook.id} />],
        ]}
      />
      <section aria-labelledby="executions">
        <h3 id="executions">Result</h3>
        <Shown of={history} rows={3}>
          {({ executions }) =>
            executions.length === 0 ? (
              <p className="faint">It has not run yet.</p>
            ) : (
              <ul className="plain-list">
                {executions.map((it) => (
                  <li key={it.id}>
                    <Chip state={OUTCOMES[it.status]}>{it.status.replace('skipped_', 'skipped: ')}</Chip>
                    <span>
                      {it.error ?? it.output ?? 'no output'}
                      <small>{money(it.costCents)}</small>
                    </span>
                    <Time at={it.createdAt} />
                  </li>
                ))}
              </ul>
            )
          }
        </Shown>
      </section>
    </>
  )
}

function NewHook({ close }: { close(): void }) {
  const { data } = useGet<{ presets: HookPreset[] }>('/hooks')
  const presets = data?.presets ?? []
  const skills = useGet<{ skills: SkillEntry[] }>('/skills', { filter: 'installed', limit: 100 }).data?.skills ?? []
  return (
    <Form
      fields={[
        {
          name: 'hook_preset_id',
          label: 'Begin with',
          kind: 'choice',
          choices: [['', 'an event of your own'], ...presets.map(({ id, description }) => [id, description] as const)],
        },
        { name: 'event_pattern', label: 'Event', help: 'Such as order.created or order.*, without a template.' },
        {
          name: 'skill_slug',
          label: 'Skill',
          kind: 'choice',
          choices: [['', 'that of the template'], ...skills.map(({ slug, name }) => [slug, name] as const)],
          help: skills.length ? 'What runs when it happens.' : 'Install a skill first: see the market under Skills.',
        },
        { name: 'name', label: 'Name' },
        { name: 'cooldown_minutes', label: 'Minutes between runs', kind: 'number', min: 1, max: 1440 },
        { name: 'config.prompt', label: 'What the skill does with it', kind: 'area' },
      ]}
      method="POST"
      path="/hooks"
      touches={['/hooks']}
      verb="Create hook"
      onCancel={close}
      onDone={close}
    />
  )
}

export const Hooks = defineScreen<Hook>({
  section: 'workflows',
  title: 'Workflows',
  list: { path: '/hooks', rows: 'hooks' },
  idOf: ({ id }) => id,
  columns: [
    { key: 'event', head: 'Event', cell: (it) => <code>{it.event_pattern}</code>, main: true },
    { key: 'skill', head: 'Skill', cell: (it) => it.skill_slug, main: true },
    { key: 'state', head: 'State', cell: State, main: true, width: '180px' },
    { key: 'cooldown', head: 'Between runs', cell: (it) => `${it.cooldown_minutes} min`, number: true },
    {
      key: 'last',
      head: 'Last fired',
      cell: ({ last_fired_at: at }) => (at ? <Ago at={at} /> : 'never'),
      number: true,
      main: true,
      width: '128px',
    },
  ],
  empty: {
    text: 'No hooks. A hook runs a skill when something happens.',
    command: 'svc-admin hooks create PATTERN SKILL',
  },
  detail: {
    path: (id) => `/hooks/${id}`,
    member: 'hook',
    titleOf: ({ name, event_pattern }) => name || event_pattern,
    body: HookBody,
  },
  create: { label: 'New hook', permission: 'manageWebhooks', form: NewHook },
})
