/** The client of a site that `fedbandit site` serves: decide, learn, and look at how it stands. */

export type Value = string | number | boolean | null | Value[];
export type Values = { [name: string]: Value };

/** What is on offer: arms as vectors, or as tables of values where the site has features. */
export interface Offer {
  arms?: number[][] | Values[];
  /** What is known of the case: values where the site has features, or a vector that the arms share. */
  context?: Values | number[];
  /** A name for each arm; without them arms count from 0. */
  ids?: (string | number)[];
}

/** Play `arm`, and tell the reward of `id` when it is known. */
export interface Decision {
  id: string;
  /** The id of the chosen arm where ids were given, else its number; of a duel a pair of them. */
  arm: string | number | (string | number)[];
  /** How likely this choice was; null where that is not known. */
  propensity: number | null;
  /** Of the shared model: it counts the coordinator's downloads. */
  version: number;
}

export interface Reward {
  id: string;
  reward: number;
}

export interface SiteState {
  state: "offline" | "connecting" | "connected" | "refused" | "failing";
  trouble: string;
  number: number;
  algorithm: string;
  version: number;
  pending: number;
  unsent: number;
  refused: string[];
}

/** The service has refused a request, which has changed nothing; the message is its sentence. */
export class SiteError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "SiteError";
    this.status = status;
  }

  /** Whether the same request may do later: the service was away, or could not write to its disk. */
  get mayPass(): boolean {
    return this.status === 0 || this.status === 503;
  }
}

export interface SiteOptions {
  /** The token of the service, where it asks for one. */
  token?: string;
  /** Milliseconds after which a request is given up; 5,000 by default. */
  timeout?: number;
  /** What sends a request, in place of the platform's own `fetch`. */
  fetch?: typeof fetch;
}

type Answer<T> = T | { error: string };

/**
 * A site.
 *
 *     const site = new Site("http://127.0.0.1:8077");
 *     const decision = await site.choose({ arms: [[1, 0], [0, 1]], ids: ["red", "blue"] });
 *     await site.learn(decision.id, 1);
 *
 * Rewards may be told late, in any order and repeatedly: each counts once. So a reward whose answer was lost is told
 * again; a decision whose answer was lost is asked for again, and the first one ends without a reward.
 */
export class Site {
  private readonly url: string;
  private readonly options: SiteOptions;

  constructor(url: string, options: SiteOptions = {}) {
    this.url = url.replace(/\/+$/, "");
    this.options = options;
  }

  async choose(offer: Offer): Promise<Decision> {
    return this.ask<Decision>("POST", "/v1/choose", offer);
  }

  /** Decide on many offers in one request; an offer that is wrong gets an Error in the place of its decision. */
  async chooseAll(offers: Offer[]): Promise<(Decision | SiteError)[]> {
    return each(await this.ask<Answer<Decision>[]>("POST", "/v1/choose", offers));
  }

  /** Tell a reward; false if it has come before, or too late, which changes nothing. */
  async learn(id: string, reward: number): Promise<boolean> {
    return (await this.ask<{ new: boolean }>("POST", "/v1/learn", { id, reward })).new;
  }

  /** Tell many rewards in one request; whether each was new, or an Error in its place. */
  async learnAll(rewards: Reward[]): Promise<(boolean | SiteError)[]> {
    const answers = each(await this.ask<Answer<{ new: boolean }>[]>("POST", "/v1/learn", rewards));
    return answers.map((answer) => (answer instanceof SiteError ? answer : answer.new));
  }

  /** Wait no longer for the reward of a decision; false if it has come, or the decision has ended. */
  async giveUp(id: string): Promise<boolean> {
    return (await this.ask<{ ended: boolean }>("POST", "/v1/give-up", { id })).ended;
  }

  async state(): Promise<SiteState> {
    return this.ask<SiteState>("GET", "/v1/state");
  }

  /** What the site has learnt so far, as a policy file. */
  async policy(): Promise<Uint8Array> {
    return new Uint8Array(await (await this.send("GET", "/v1/policy")).arrayBuffer());
  }

  private async ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    return (await (await this.send(method, path, body)).json()) as T;
  }

  private async send(method: string, path: string, body?: unknown): Promise<Response> {
    const headers: Record<string, string> = { "Content-Type": "application/json" };
    if (this.options.token) headers["Authorization"] = `Bearer ${this.options.token}`;
    let response: Response;
    try {
      response = await (this.options.fetch ?? fetch)(this.url + path, {
        method,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(this.options.timeout ?? 5000),
      });
    } catch (error) {
      throw new SiteError(0, `no answer from ${this.url}: ${reason(error)}`);
    }
    if (response.ok) return response;
    const told = (await response.json().catch(() => ({}))) as { error?: string };
    throw new SiteError(response.status, told.error ?? `${this.url}${path} answers ${response.status}`);
  }
}

function each<T extends object>(answers: Answer<T>[]): (T | SiteError)[] {
  return answers.map((answer) => ("error" in answer ? new SiteError(400, answer.error) : answer));
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
