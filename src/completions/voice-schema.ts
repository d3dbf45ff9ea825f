import { defineId } from '../kernel/ids'
import { JsonObject, nullable, oneOf, type Static, Timestamp, t } from '../kernel/schema'

export const VoiceSessionId = defineId('voice session', 'voice')
export type VoiceSessionId = Static<typeof VoiceSessionId.schema>

export const TokenInput = t.Object(
  {
    voice: t.Optional(
      t.String({ maxLength: 200, description: 'For the live voice server, which reads it from the token' }),
    ),
    conversation_id: t.Optional(nullable(t.String({ maxLength: 200, description: 'Conversation to continue' }))),
    skills: t.Optional(
      t.Array(t.String({ maxLength: 200 }), {
        maxItems: 20,
        description: 'Slugs of skills to use in addition to the installed ones',
      }),
    ),
  },
  { $id: 'VoiceTokenOrder' },
)
export type TokenInput = Static<typeof TokenInput>

const FunctionDeclaration = t.Object({ name: t.String(), description: t.String(), parameters: JsonObject })

/** What a client attaches to its live session (contract 6). */
export const VoiceToken = t.Object(
  {
    object: t.Literal('voice_session'),
    token: t.String({
      description: 'svc_voice_ and a JSON Web Token; for the live voice server and for /voice/action',
    }),
    expiresAt: Timestamp,
    url: t.String({ description: 'Address of the live voice server' }),
    systemInstruction: t.String(),
    tools: t.Array(t.Object({ functionDeclarations: t.Array(FunctionDeclaration) })),
    warnings: t.Optional(t.Array(t.String())),
  },
  { $id: 'VoiceToken' },
)
export type VoiceToken = Static<typeof VoiceToken>

export const ActionInput = t.Object(
  {
    tool: t.String({ minLength: 1, maxLength: 300, description: 'Name of one of the tools of the session' }),
    arguments: t.Optional(JsonObject),
    session_token: t.Optional(t.String({ maxLength: 8_192, description: 'The token of the session' })),
  },
  { $id: 'VoiceActionOrder' },
)
export type ActionInput = Static<typeof ActionInput>

export const ActionResult = t.Object(
  {
    object: t.Literal('voice_action'),
    tool: t.String(),
    status: oneOf(['success', 'error'] as const),
    result: t.Unknown({ description: 'Result of the tool; null after an error' }),
    error: nullable(t.String()),
  },
  { $id: 'VoiceActionResult' },
)
export type ActionResult = Static<typeof ActionResult>
