import { Button, Check } from '../ui/controls'
import { Dialog } from '../ui/overlay'
import { table, useShortcuts } from './keys'

/** The keys of the current screen, from the table that handles them. */
export function KeyHelp({ onClose }: { onClose(): void }) {
  const [isOn, setOn] = useShortcuts()
  const keys = table.use()
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <Check label="Single-key shortcuts" checked={isOn} onChange={setOn} />
      <dl className="keys">
        <div>
          <dt>
            <kbd>Ctrl K</kbd>
          </dt>
          <dd>Search sections and actions</dd>
        </div>
        {keys.map(({ keys: pressed, label }) => (
          <div key={pressed}>
            <dt>
              {pressed.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
      <div className="actions end">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  )
}
