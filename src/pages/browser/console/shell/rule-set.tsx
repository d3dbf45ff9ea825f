import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useId, useState } from 'react'
import type { ApiKey } from '../../../../accounts/keys/schema'
import type { UsageSeries } from '../../../../usage/schema'
import { deletion } from '../shell/actions'
import { Button, Chip, SendForm } from '../ui/controls'
import { field } from '../ui/fields'
import { plural, sum, whole } from '../ui/format'
import { Failed } from '../ui/states'
import type { Column } from '../ui/table'
import { Actions } from './actions'
import { type Failure, useGet, useOwner } from './api'
import type { Owner } from './boot'
import { Form, savingOf } from './form'
import { rangeFilter } from './range'

/** Common properties of guardrail policies and routing preferences: keys are bound to one, and one is the default. */
type RuleSet = { id: string; is_default: boolean; bound_key_count: number }

export const usedColumn: Column<RuleSet> = {
  key: 'used',
  head: 'Used',
  cell: ({ is_default, bound_key_count }) => {
    if (is_default) return <Chip state="good">default</Chip>
    return bound_key_count ? 'by keys' : <Chip state="off">not used</Chip>
  },
  main: true,
  width: '120px',
}

/** Query for the owner's own sets. Empty if an operator looks at all owners. */
export const scopeOf = ({ id, looksAt }: Pick<Owner, 'id' | 'looksAt'>) =>
  looksAt === null ? {} : { scope: id ? 'team' : 'personal' }

/** Query for the last 30 days. The start is the same for all rows, so that they share one call. */
const LATELY = { ...rangeFilter.sends('30d'), step: '1d', top: 12 } as const
const DAY = rangeFilter.sends('24h')

/**
 * Number of calls in the last 30 days, by the key of the series. A plus means that older calls were not counted. Null
 * while loading, and for a series that the answer sums up as the rest.
 */
export function useCounts(group_by: 'policy' | 'preference') {
  const { looksAt } = useOwner()
  const { data } = useGet<UsageSeries>('/usage/series', { ...LATELY, group_by }, { off: looksAt === null })
  return (key: string): { many: number; text: string } | null => {
    const found = data?.series.find((it) => it.key === key)
    if (!data || (!found && data.other)) return null
    const many = found ? sum(found.requests) : 0
    return { many, text: whole(many) + (data.known_from > data.period.from ? '+' : '') }
  }
}

type Bound = Pick<ApiKey, 'guardrail_policy_id' | 'routing_preference_id'> & { id: string }
const HOURS = 24

/** The number of keys that use a set, and their requests of the last day. */
function Touched({ of, list, isDefault }: { of: RuleSet | undefined; list: string; isDefault: boolean }) {
  const { looksAt } = useOwner()
  const off = looksAt !== undefined
  const keys = useGet<{ keys: Bound[] }>('/keys', { limit: 100 }, { off })
  const day = useGet<UsageSeries>('/usage/series', { ...DAY, step: '1h', group_by: 'key', top: 12 }, { off })
  if (!keys.data || !day.data) return null
  const setOf = (key: Bound) => (list === '/guardrail-policies' ? key.guardrail_policy_id : key.routing_preference_id)
  const its = keys.data.keys.filter((key) => (isDefault ? [of?.id, null].includes(setOf(key)) : setOf(key) === of?.id))
  const others = keys.data.keys.filter((key) => !its.includes(key))
  const callsOf = (some: readonly Bound[]) =>
    day.data.series
      .filter(({ key }) => some.some(({ id }) => id === key))
      .reduce((all, it) => all + sum(it.requests), 0)
  const many = isDefault ? (day.data.totals.requests ?? 0) - callsOf(others) : callsOf(its)
  return (
    <p className="notice" role="status">
      {its.length || isDefault
        ? `In force from the next request on, for ${plural(its.length, 'key')}${isDefault ? ' and the playground' : ''}: ${paceOf(many)}.`
        : 'No key uses it, so nothing changes until one is bound to it.'}
    </p>
  )
}

/** A rate in words, in a unit that is easy to imagine. */
function paceOf(many: number): string {
  const [minutes, hours] = [many / HOURS / 60, many / HOURS].map(Math.round)
  if (minutes) return `about ${plural(minutes, 'request')} a minute`
  if (hours) return `about ${plural(hours, 'request')} an hour`
  return many ? `${plural(many, 'request')} in the last ${HOURS} hours` : `no request in the last ${HOURS} hours`
}

type EditorProps = {
  /** The set to change. Without it, the editor makes a new one. */
  of: RuleSet | undefined
  /** Path of the list: `/guardrail-policies`. */
  list: string
  /** Name of the kind: `policy`. */
  what: string
  /** Members to send besides name, description and default. */
  more: Record<string, unknown>
  close(): void
  children: ReactNode
}

/** Editor of a rule set: its name and use, its rules as children, and its deletion. */
export function RuleSetEditor({ of, list, what, more, close, children }: EditorProps) {
  const owner = useOwner()
  const others = useGet<Record<string, (RuleSet & { name: string })[]>>(list, { ...scopeOf(owner), limit: 100 })
  const current = Object.values(others.data ?? {})
    .filter((member) => Array.isArray(member))
    .flat()
    .find(({ id, is_default }) => is_default && id !== of?.id)
  const saving = savingOf(list, of, `Create ${what}`)
  const [isDefault, setDefault] = useState(of?.is_default ?? false)
  return (
    <div className="editor-main">
      <Form
        fields={[
          field('name', 'Name', { required: true }),
          field('description', 'What it is for', { empty: 'null' }),
          field('is_default', 'Use it for the playground, and for every key without one of its own', {
            kind: 'check',
            help: current && `It takes the place of “${current.name}”, which is the default now.`,
          }),
        ]}
        values={of}
        {...saving}
        touches={[list, '/keys']}
        more={{ ...more, ...(of ? {} : scopeOf(owner)) }}
        permission="manageWebhooks"
        onCancel={of ? undefined : close}
        onDone={of ? undefined : close}
        onChange={({ is_default }) => setDefault(is_default === true)}
      >
        {children}
        <Touched of={of} list={list} isDefault={isDefault} />
      </Form>
      {of && (
        <Actions
          touches={[list, '/keys']}
          permission="manageWebhooks"
          actions={[
            deletion(
              saving.path,
              `${plural(of.bound_key_count, 'key')} lose this ${what}. This cannot be undone.`,
              close,
            ),
          ]}
        />
      )}
    </div>
  )
}

type TryProps<Answer> = {
  title: string
  verb: string
  run(): Promise<Answer>
  /** Input fields. */
  fields: ReactNode
  children(answer: Answer): ReactNode
}

/** Tries rules on a text, and shows the result. */
export function TryPanel<Answer>({ title, verb, run, fields, children }: TryProps<Answer>) {
  const id = useId()
  const tried = useMutation<Answer, Failure>({ mutationFn: run })
  return (
    <section className="card part" aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      <SendForm className="form" onSend={() => tried.mutate()}>
        {fields}
        <div className="actions">
          <Button type="submit" busy={tried.isPending}>
            {verb}
          </Button>
        </div>
      </SendForm>
      {tried.error && <Failed problem={tried.error} />}
      <div role="status">{tried.data !== undefined && children(tried.data)}</div>
    </section>
  )
}
