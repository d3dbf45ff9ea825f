import { useState } from 'react'
import { Link } from 'wouter'
import type { Statement } from '../../../../../billing/statements'
import type { RequestRow } from '../../../../../usage/schema'
import { useCalls, useGet, useOwner } from '../../shell/api'
import { lineOfCall, Preview } from '../../shell/save-as'
import { Button, End, Field } from '../../ui/controls'
import { Facts } from '../../ui/facts'
import { money, plural } from '../../ui/format'
import { Dialog } from '../../ui/overlay'
import { Failed, type Problem, Shown } from '../../ui/states'

/** The first moment of the month after `YYYY-MM`. */
function endOf(month: string): string {
  const [year, number] = month.split('-').map(Number)
  return new Date(Date.UTC(year!, number!)).toISOString()
}

/** Statements of a month: opening and closing balance, movements, and its calls as a file. */
export function Statements() {
  const [isOpen, setOpen] = useState(false)
  const [month, setMonth] = useState(new Date().toISOString().slice(0, 7))
  const { id, slug } = useOwner()
  const { download } = useCalls()
  const [problem, setProblem] = useState<Problem | null>(null)
  const span = { from: `${month}-01T00:00:00.000Z`, to: endOf(month) }
  const save = () => {
    setProblem(null)
    download('/usage/export', { ...span, format: 'csv' }, `usage-${month}.csv`).catch(setProblem)
  }
  const statement = useGet<Statement>(`/billing/statements/${month}`, { scope: id ? 'org' : 'user' }, { off: !isOpen })
  const calls = useGet<{ requests: RequestRow[] }>('/requests', { ...span, limit: 20 }, { off: !isOpen })
  return (
    <>
      <Button onClick={() => setOpen(true)}>Usage of a month…</Button>
      {isOpen && (
        <Dialog title="Statement and usage of a month" onClose={() => setOpen(false)} wide>
          <Field label="Month" help="Months are those of UTC.">
            {(props) => (
              <input
                {...props}
                type="month"
                value={month}
                max={new Date().toISOString().slice(0, 7)}
                onChange={({ target }) => target.value && setMonth(target.value)}
              />
            )}
          </Field>
          <Shown of={statement} rows={4}>
            {({ opening_cents, closing_cents, entries_by_kind, by_model }) => (
              <Facts
                of={{
                  'Opening balance': money(opening_cents),
                  ...Object.fromEntries(
                    Object.entries(entries_by_kind).map(([kind, { entries, amount_cents }]) => [
                      kind,
                      `${money(amount_cents)} in ${plural(entries, 'entry', 'entries')}`,
                    ]),
                  ),
                  'Closing balance': money(closing_cents),
                  ...Object.fromEntries(
                    by_model.map(({ label, requests, cost_cents }) => [
                      label,
                      `${money(cost_cents)} for ${plural(requests, 'request')}`,
                    ]),
                  ),
                }}
              />
            )}
          </Shown>
          <h3>Its calls, as the file begins</h3>
          <Shown of={calls} rows={3}>
            {({ requests }) => <Preview lines={requests.map(lineOfCall)} />}
          </Shown>
          {problem && <Failed problem={problem} />}
          <End verb="Close" onClose={() => setOpen(false)}>
            <Link className="button quiet" href={`/${slug}/requests?${new URLSearchParams(span)}`}>
              See its calls
            </Link>
            <Button onClick={save}>Its calls as CSV</Button>
          </End>
        </Dialog>
      )}
    </>
  )
}
