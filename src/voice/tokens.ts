import { jwtVerify, SignJWT } from 'jose'
import type { OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { hmacHex } from '../kernel/crypto'
import { invalidToken } from './errors'
import type { VoiceSessionId } from './schema'

/** What a token says of its session. */
export type VoiceSession = {
  id: VoiceSessionId
  owner: OwnerScope
  userId: string
  voice: string | null
  conversationId: string | null
  /** Slugs of skills that were asked for, besides those installed. */
  skills: readonly string[]
}

type Deps = { clock: Clock; masterKey: Uint8Array; secret: string }

const PREFIX = 'svc_voice_'
/** Contract 6. */
const TTL_MS = 30 * 60_000
const RULES = { algorithms: ['HS256'], issuer: 'svc', audience: 'voice' }

/** Tokens of voice sessions: signed, and stored nowhere. */
export function createVoiceTokens({ clock, masterKey, secret }: Deps) {
  const key = new TextEncoder().encode(secret || hmacHex(masterKey, 'voice-token'))
  const date = (at: number) => new Date(at)
  return {
    /** A token that works for 30 minutes. */
    async sign({ id, userId, owner, voice, conversationId, skills }: VoiceSession) {
      const until = clock.now() + TTL_MS
      const token = await new SignJWT({ owner, voice, conversation_id: conversationId, skills: [...skills] })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setIssuer(RULES.issuer)
        .setAudience(RULES.audience)
        .setSubject(userId)
        .setJti(id)
        .setIssuedAt(date(clock.now()))
        .setExpirationTime(date(until))
        .sign(key)
      return { token: PREFIX + token, until }
    },

    /** The session of a token of this owner. Throws 401 `invalid_token`. */
    async read(token: string, owner: OwnerScope): Promise<VoiceSession> {
      if (!token.startsWith(PREFIX)) throw invalidToken()
      const options = { ...RULES, currentDate: date(clock.now()) }
      const { payload } = await jwtVerify(token.slice(PREFIX.length), key, options).catch((cause) => {
        throw invalidToken.with({ cause })
      })
      if (payload.owner !== owner) throw invalidToken()
      const { jti, sub, voice, conversation_id, skills } = payload as Claims
      return { id: jti, owner, userId: sub, voice, conversationId: conversation_id, skills }
    },
  }
}

type Claims = {
  jti: VoiceSessionId
  sub: string
  voice: string | null
  conversation_id: string | null
  skills: string[]
}
