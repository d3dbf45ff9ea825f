import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { call } from '../../shared/http'
import { Button, Field } from '../ui/controls'
import { Dialog } from '../ui/overlay'
import { Failure, limitedUntil, signedOut } from './api'
import { at, boot } from './boot'

const listen = (changed: () => void) => {
  addEventListener('online', changed)
  addEventListener('offline', changed)
  return () => {
    removeEventListener('online', changed)
    removeEventListener('offline', changed)
  }
}

/** What concerns the whole page: no connection, too many calls, a session that ended. */
export function Notices() {
  const isOnline = useSyncExternalStore(listen, () => navigator.onLine)
  const isOut = signedOut.use()
  return (
    <>
      <div role="status">
        {!isOnline && <p className="notice warn">○ offline. What you see may be old; it comes back by itself.</p>}
        <Limited />
      </div>
      {isOut && <SignInAgain />}
    </>
  )
}

function Limited() {
  const until = limitedUntil.use()
  const [left, setLeft] = useState(0)
  useEffect(() => {
    const tick = () => setLeft(Math.max(0, Math.ceil((until - Date.now()) / 1_000)))
    tick()
    const timer = setInterval(tick, 1_000)
    return () => clearInterval(timer)
  }, [until])
  if (left === 0) return null
  return <p className="notice warn">Too many calls. The next is taken in {left} s; reading goes on by itself.</p>
}

/** The session ended: signing in here keeps what was typed and chosen. */
function SignInAgain() {
  const client = useQueryClient()
  const [password, setPassword] = useState('')
  const [problem, setProblem] = useState<string>()
  const [busy, setBusy] = useState(false)
  const signIn = async () => {
    setBusy(true)
    try {
      await call(at('/api/v1/auth/sessions'), { method: 'POST', body: { email: boot.user.email, password } })
      signedOut.set(false)
      await client.invalidateQueries()
    } catch (error) {
      setProblem(error instanceof Failure ? error.message : String(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog title="You were signed out" isAlert onClose={() => undefined}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void signIn()
        }}
      >
        <p>Sign in again to go on. What you typed is kept.</p>
        <input className="hidden" type="email" autoComplete="username" readOnly value={boot.user.email} tabIndex={-1} />
        <Field label={`Password of ${boot.user.email}`} problem={problem}>
          {(props) => (
            <input
              {...props}
              type="password"
              autoComplete="current-password"
              required
              value={password}
              onChange={({ target }) => setPassword(target.value)}
            />
          )}
        </Field>
        <div className="actions end">
          <a className="button quiet" href={at('/sign-in')}>
            Other ways to sign in
          </a>
          <Button type="submit" kind="primary" busy={busy}>
            Sign in
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
