import { lazy, Suspense, useEffect, useState, useSyncExternalStore } from 'react'
import { Chip } from '../ui/controls'
import { clock } from '../ui/format'
import { limitedUntil, lostSince, part, signedOut, unconfirmed } from './api'

const SignInAgain = lazy(() => part(() => import('./sign-in-again')).then((it) => ({ default: it.SignInAgain })))

const listen = (changed: () => void) => {
  addEventListener('online', changed)
  addEventListener('offline', changed)
  return () => {
    removeEventListener('online', changed)
    removeEventListener('offline', changed)
  }
}

/** The state of the connection, in the top bar. */
export function Connection() {
  const isOnline = useSyncExternalStore(listen, () => navigator.onLine)
  const isLost = lostSince.use() > 0
  return isOnline && !isLost ? <Chip state="live">live</Chip> : <Chip state="off">offline</Chip>
}

/** Notices for the whole page: no connection, too many calls, an ended session. */
export function Notices() {
  const isOnline = useSyncExternalStore(listen, () => navigator.onLine)
  const isOut = signedOut.use()
  const since = lostSince.use()
  const isUnproven = unconfirmed.use()
  return (
    <>
      <div role="status">
        {!isOnline && <p className="notice warn">○ offline. What you see may be old; it comes back by itself.</p>}
        {isOnline && since > 0 && (
          <p className="notice warn">
            ○ The server has not been reached since {clock.format(since)}. What you see may be old; it comes back by
            itself.
          </p>
        )}
        <Limited />
      </div>
      <Suspense>{(isOut || isUnproven) && <SignInAgain isOut={isOut} />}</Suspense>
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
