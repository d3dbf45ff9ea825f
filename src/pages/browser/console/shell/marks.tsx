import { X } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../ui/controls'
import { plural } from '../ui/format'
import { Ask } from '../ui/overlay'
import { Failed, type Problem } from '../ui/states'
import { useMayAct, verbOf } from './actions'
import { readAgain, useCalls, useOwner } from './api'
import type { DetailOf } from './detail'

/** Number of rows that the confirmation names. */
const NAMED = 5

type Props<Row> = {
  rows: readonly Row[]
  detail: DetailOf<Row>
  /** The path of the list. */
  list: string
  onClear(): void
}

/** The number of marked rows, and the actions that all of them have and that need nothing to fill in. */
export function Marked<Row>({ rows, detail: { actions: actionsOf, titleOf }, list, onClear }: Props<Row>) {
  const owner = useOwner()
  const { json } = useCalls()
  const mayAct = useMayAct()
  const [asked, setAsked] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const [failed, setFailed] = useState<readonly Problem[]>([])
  const offers = rows.map((row) => {
    const { actions, touches = [list], ...who } = actionsOf!(row, () => {}, owner)
    const offered = actions.filter((it) => it !== false && it !== null)
    return { row, touches, actions: offered.filter((it) => !it.fields && !it.shows && !it.typed && mayAct(who, it)) }
  })
  const chosen = offers.flatMap(({ row, actions }) => {
    const action = actions.find(({ label }) => label === asked)
    return action ? [{ row, action }] : []
  })
  const common = offers[0]!.actions.filter(({ label }) =>
    offers.every(({ actions }) => actions.some((one) => one.label === label)),
  )
  const act = async () => {
    setBusy(true)
    const problems: Problem[] = []
    for (const { action } of chosen) {
      const { method = 'POST', path, body, done } = action
      try {
        const sent = typeof body === 'function' ? body({}) : body
        const answer = await json(method, path, method === 'DELETE' || !sent ? {} : { body: sent })
        done?.(answer as never)
      } catch (problem) {
        problems.push(problem as Problem)
      }
    }
    readAgain(offers[0]!.touches)
    setBusy(false)
    setAsked(null)
    setFailed(problems)
    if (problems.length === 0) onClear()
  }
  return (
    <section className="marked" aria-label="Marked rows">
      <div className="actions">
        <b role="status">{plural(rows.length, 'row')} marked</b>
        {common.map(({ label, danger }) => (
          <Button key={label} kind={danger ? 'danger' : 'quiet'} onClick={() => setAsked(label)}>
            {label}
          </Button>
        ))}
        {common.length === 0 && <span className="faint">There is nothing to do with all of them.</span>}
        <Button kind="plain" onClick={onClear} icon={X}>
          Clear
        </Button>
      </div>
      {failed.length > 0 && `${failed.length} of ${plural(rows.length, 'row')} failed:`}
      {failed[0] && <Failed problem={failed[0]} />}
      {asked && chosen[0] && (
        <Ask
          title={`${verbOf(asked)}: ${plural(chosen.length, 'row')}`}
          verb={verbOf(asked)}
          danger={chosen[0].action.danger ?? false}
          busy={isBusy}
          onClose={() => setAsked(null)}
          onDo={() => void act()}
        >
          <ul className="plain-list">
            {chosen.slice(0, NAMED).map(({ row, action }) => (
              <li key={action.path}>
                <span>
                  {titleOf(row)}
                  {action.ask && <small>{action.ask}</small>}
                </span>
              </li>
            ))}
          </ul>
          {chosen.length > NAMED && <p className="faint">And {plural(chosen.length - NAMED, 'more row')}.</p>}
        </Ask>
      )}
    </section>
  )
}
