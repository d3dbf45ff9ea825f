import { type ReactNode, useId, useState } from 'react'
import type { UsageSeries } from '../../../../usage/schema'
import { Button, Chip } from '../ui/controls'
import { plural } from '../ui/format'
import { Failed, type Problem } from '../ui/states'
import type { Column } from '../ui/table'
import { Actions } from './actions'
import { useGet, useOwner } from './api'
import { DOCS, type Owner } from './boot'
import { Form } from './form'
import { rangeFilter } from './range'

/** What guardrail policies and routing preferences have in common: keys are bound to one, and one is the default. */
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

/** Which of the sets are this owner's. */
export const scopeOf = ({ id }: Pick<Owner, 'id'>) => ({ scope: id ? 'team' : 'personal' })

/** When the 30 days began that are counted: the same for all rows, so that they share one call. */
const LATELY = { ...rangeFilter.sends('30d'), step: '1d', top: 12 } as const

/**
 * How many calls of the last 30 days each series has, by its key; a plus says that older ones were not looked at.
 * Without counts while they are read, and where an operator looks at others.
 */
export function useCounts(group_by: 'guardrail' | 'preference') {
  const { looksAt } = useOwner()
  const { data } = useGet<UsageSeries>('/usage/series', { ...LATELY, group_by }, { off: looksAt !== undefined })
  const sum = (values: readonly (number | null)[]) => values.reduce<number>((total, value) => total + (value ?? 0), 0)
  return {
    counts: data && new Map(data.series.map(({ key, requests }) => [key, sum(requests)])),
    more: data && data.known_from > data.period.from ? '+' : '',
  }
}

type EditorProps = {
  /** The set that is changed; null for a new one. */
  of: RuleSet | null
  /** Of the list: `/guardrail-policies`. */
  list: string
  /** `policy`. */
  what: string
  /** What is sent besides name, description and default. */
  more: Record<string, unknown>
  close(): void
  children: ReactNode
}

/** Name and use of a set of rules, its rules as they are given, and how to delete it. */
export function RuleSetEditor({ of, list, what, more, close, children }: EditorProps) {
  const owner = useOwner()
  const others = useGet<Record<string, (RuleSet & { name: string })[]>>(list, { ...scopeOf(owner), limit: 100 })
  const current = Object.values(others.data ?? {})
    .filter((member) => Array.isArray(member))
    .flat()
    .find(({ id, is_default }) => is_default && id !== of?.id)
  const path = of ? `${list}/${of.id}` : list
  return (
    <div className="editor-main">
      <Form
        fields={[
          { name: 'name', label: 'Name', required: true },
          { name: 'description', label: 'What it is for', empty: 'null' },
          {
            name: 'is_default',
            label: 'Use it for the playground, and for every key without one of its own',
            kind: 'check',
            help: [
              of ? `Bound to ${plural(of.bound_key_count, 'key')}; they use it from their next request on.` : '',
              current ? `It takes the place of “${current.name}”, which is the default now.` : '',
              of ? '' : `Without this, the ${what} does nothing until a key is bound to it.`,
            ]
              .filter(Boolean)
              .join(' '),
          },
        ]}
        values={of}
        method={of ? 'PATCH' : 'POST'}
        path={path}
        touches={[list, '/keys']}
        verb={of ? 'Save' : `Create ${what}`}
        more={{ ...more, ...(of ? {} : scopeOf(owner)) }}
        permission="manageWebhooks"
        onCancel={of ? undefined : close}
        onDone={of ? undefined : close}
      >
        {children}
      </Form>
      {of && (
        <Actions
          touches={[list, '/keys']}
          permission="manageWebhooks"
          actions={[
            {
              label: 'Delete…',
              method: 'DELETE',
              path,
              danger: true,
              ask: `${plural(of.bound_key_count, 'key')} lose this ${what}. This cannot be undone.`,
              done: close,
            },
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
  /** What is filled in. */
  fields: ReactNode
  children(answer: Answer): ReactNode
}

/** Tries rules on a text, and shows what they make of it. */
export function TryPanel<Answer>({ title, verb, run, fields, children }: TryProps<Answer>) {
  const id = useId()
  const [found, setFound] = useState<Answer | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const tried = () =>
    run().then(
      (answer) => {
        setProblem(null)
        setFound(answer)
      },
      (error: Problem) => setProblem(error),
    )
  return (
    <section className="card part" aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          void tried()
        }}
      >
        {fields}
        <div className="actions">
          <Button type="submit">{verb}</Button>
        </div>
      </form>
      {problem && <Failed problem={problem} docs={DOCS} />}
      <div role="status">{found && children(found)}</div>
    </section>
  )
}
