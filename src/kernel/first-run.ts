/** The owner and the key that the first run in dev mode makes. */
export const DEV_OWNER = 'owner@localhost'
export const DEV_KEY = 'Dev laptop'
