/** Any JSON value. What arrives from outside is `Json` until a schema says more. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };
