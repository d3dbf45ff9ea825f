import type { Hook, HookHistory, HookPreset } from '../../../../../automation/schema'
import type { SkillEntry } from '../../../../../skills/schema'
import { deletion } from '../../shell/actions'
import { useGet } from '../../shell/api'
import { defineScreen } from '../../shell/screen'
import { agoColumn, column } from '../../ui/columns'
import { Chip, Id } from '../../ui/controls'
import { Lines, ShownPart } from '../../ui/facts'
import { type FormField, field } from '../../ui/fields'
import { Ago, money, plural, Time } from '../../ui/format'

function State({ enabled, disabled_reason }: Hook) {
  if (enabled) return <Chip state="good">on</Chip>
  return disabled_reason ? <Chip state="bad">paused after failures</Chip> : <Chip state="off">off</Chip>
}

const OUTCOMES = {
  running: 'run',
  completed: 'good',
  failed: 'bad',
  skipped_cooldown: 'wait',
  skipped_credits: 'warn',
  skipped_cap: 'warn',
} as const

function Executions({ row }: { row: Hook }) {
  const history = useGet<HookHistory>(`/hooks/${row.id}/executions`)
  return (
    <ShownPart title="Result" of={history} rows={3}>
      {({ executions }) => (
        <Lines
          of={executions}
          empty="It has not run yet."
          line={(it) => ({
            key: it.id,
            mark: <Chip state={OUTCOMES[it.status]}>{it.status.replace('skipped_', 'skipped: ')}</Chip>,
            text: it.error ?? it.output ?? 'no output',
            small: money(it.costCents),
            end: <Time at={it.createdAt} />,
          })}
        />
      )}
    </ShownPart>
  )
}

const CHANGE: readonly FormField[] = [
  field('name', 'Name', { required: true }),
  field('cooldown_minutes', 'Minutes between runs', { kind: 'number', min: 1, max: 1440 }),
  field('config', 'Settings, as JSON', { kind: 'json', help: '"prompt" tells the skill what to do.' }),
]

function useNewHook() {
  const presets = useGet<{ presets: HookPreset[] }>('/hooks').data?.presets ?? []
  const skills = useGet<{ skills: SkillEntry[] }>('/skills', { filter: 'installed', limit: 100 }).data?.skills ?? []
  const begun = [['', 'an event of your own'], ...presets.map(({ id, description }) => [id, description] as const)]
  const run = [['', 'that of the template'], ...skills.map(({ slug, name }) => [slug, name] as const)]
  const what = skills.length ? 'What runs when it happens.' : 'Install a skill first: see the market under Skills.'
  const fields: readonly FormField[] = [
    field('hook_preset_id', 'Begin with', { kind: 'choice', choices: begun as [string, string][] }),
    field('event_pattern', 'Event', { help: 'Such as order.created or order.*, without a template.' }),
    field('skill_slug', 'Skill', { kind: 'choice', choices: run as [string, string][], help: what }),
    field('name', 'Name'),
    field('cooldown_minutes', 'Minutes between runs', { kind: 'number', min: 1, max: 1440 }),
    field('config.prompt', 'What the skill does with it', { kind: 'area' }),
  ]
  return { fields, verb: 'Create hook' }
}

export const Hooks = defineScreen<Hook>('workflows', 'Workflows', {
  list: { path: '/hooks', rows: 'hooks' },
  columns: [
    column('event', 'Event', { cell: (it) => <code>{it.event_pattern}</code>, main: true }),
    column('skill', 'Skill', { cell: (it) => it.skill_slug, main: true }),
    column('state', 'State', { cell: State, main: true, width: '180px' }),
    column('cooldown', 'Between runs', { cell: (it) => `${it.cooldown_minutes} min`, number: true }),
    agoColumn('last', 'Last fired', ({ last_fired_at: at }) => at),
  ],
  empty: {
    text: 'No hooks. A hook runs a skill when something happens.',
    command: 'svc-admin hooks install --pattern PATTERN --skill SKILL',
  },
  detail: {
    path: (id) => `/hooks/${id}`,
    member: 'hook',
    titleOf: ({ name, event_pattern }) => name || event_pattern,
    actions: (hook, close) => {
      const path = `/hooks/${hook.id}`
      const { enabled } = hook
      return {
        permission: 'manageWebhooks',
        actions: [
          { label: enabled ? 'Switch off' : 'Switch on', method: 'PATCH', path, body: { enabled: !enabled } },
          { label: 'Change…', method: 'PATCH', path, values: hook, fields: CHANGE },
          deletion(path, 'Nothing runs any more when this happens.', close),
        ],
      }
    },
    facts: (hook) => ({
      State: <State {...hook} />,
      Event: <code>{hook.event_pattern}</code>,
      Skill: hook.skill_slug,
      'Between runs': plural(hook.cooldown_minutes, 'minute'),
      'Failures in a row': hook.consecutive_failures,
      'Last fired': hook.last_fired_at ? <Ago at={hook.last_fired_at} /> : 'never',
      Id: <Id id={hook.id} />,
    }),
    body: Executions,
  },
  create: { label: 'New hook', permission: 'manageWebhooks', useForm: useNewHook },
})
