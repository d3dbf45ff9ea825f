/** The date of the wire contract, as `GET /health` shows it (docs/api.md 21). */
export const API_VERSION = '2026-11-21'

/** The release, as `svc-admin version` and the banner show it. */
export const RELEASE = '0.1.0'
