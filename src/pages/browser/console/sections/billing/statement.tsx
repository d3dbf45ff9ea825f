import { useState } from 'react'
import type { Statement } from '../../../../../billing/statements'
import { useGet, useOwner } from '../../shell/api'
import { DOCS } from '../../shell/boot'
import { Button, Field } from '../../ui/controls'
import { Facts } from '../../ui/facts'
import { money, plural } from '../../ui/format'
import { Dialog } from '../../ui/overlay'
import { Shown } from '../../ui/states'

/** What a month began and ended with, and what came in between. */
export function Statements() {
  const [isOpen, setOpen] = useState(false)
  const [month, setMonth] = useState(new Date().toISOString().slice(0, 7))
  const { id } = useOwner()
  const statement = useGet<Statement>(`/billing/statements/${month}`, { scope: id ? 'org' : 'user' }, { off: !isOpen })
  return (
    <>
      <Button onClick={() => setOpen(true)}>Statement…</Button>
      {isOpen && (
        <Dialog title="Statement of a month" onClose={() => setOpen(false)}>
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
          <Shown of={statement} docs={DOCS} rows={4}>
            {({ opening_cents, closing_cents, entries_by_kind, by_model }) => (
              <Facts
                facts={[
                  ['Opening balance', money(opening_cents)],
                  ...Object.entries(entries_by_kind).map(
                    ([kind, { entries, amount_cents }]) =>
                      [kind, `${money(amount_cents)} in ${plural(entries, 'entry', 'entries')}`] as const,
                  ),
                  ['Closing balance', money(closing_cents)],
                  ...by_model.map(
                    ({ label, requests, cost_cents }) =>
                      [label, `${money(cost_cents)} for ${plural(requests, 'request')}`] as const,
                  ),
                ]}
              />
            )}
          </Shown>
          <div className="actions end">
            <Button onClick={() => setOpen(false)}>Close</Button>
          </div>
        </Dialog>
      )}
    </>
  )
}
