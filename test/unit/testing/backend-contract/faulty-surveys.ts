/** Backends in memory whose survey breaks one promise each. */
import type { Survey, SurveyedKey, SurveyQuestion } from '../../../../lib/contract/survey.js';
import { MemoryBackend } from '../../../../lib/memory/memory.backend.js';

const NEVER = new AbortController().signal;

/** Changes the question, or each key of the answer. */
class Changed extends MemoryBackend {
  protected question(question: SurveyQuestion): SurveyQuestion {
    return question;
  }

  protected key(key: SurveyedKey): SurveyedKey {
    return key;
  }

  override async survey(question: SurveyQuestion): Promise<Survey> {
    const survey = await super.survey(this.question(question));
    return { ...survey, keys: survey.keys.map((key) => this.key(key)) };
  }
}

export class HasNoBound extends Changed {
  protected override question(question: SurveyQuestion): SurveyQuestion {
    return { ...question, mostKeys: Infinity };
  }
}

export class ListsAll extends Changed {
  protected override question(question: SurveyQuestion): SurveyQuestion {
    return { ...question, mostContenders: Infinity };
  }
}

export class CountsTheListed extends Changed {
  protected override key(key: SurveyedKey): SurveyedKey {
    return { ...key, waiting: key.waiters.length };
  }
}

export class ForgetsThePrefix extends Changed {
  protected override question({ prefix, ...question }: SurveyQuestion): SurveyQuestion {
    const end = prefix?.lastIndexOf('/key') ?? -1;
    return { ...question, prefix: prefix?.slice(0, end + 4) };
  }
}

export class TakesSemaphoresForLocks extends Changed {
  protected override key(key: SurveyedKey): SurveyedKey {
    return key.kind === 'semaphore' ? { ...key, kind: 'lock' } : key;
  }
}

export class ShowsHoldersAsWaiting extends Changed {
  protected override key(key: SurveyedKey): SurveyedKey {
    return { ...key, holders: [], waiters: [...key.holders, ...key.waiters] };
  }
}

export class ForgetsQueues extends MemoryBackend {
  override async survey(question: SurveyQuestion): Promise<Survey> {
    return { ...(await super.survey(question)), queues: [] };
  }
}

export class SaysNothingOfItsBound extends MemoryBackend {
  override async survey(question: SurveyQuestion): Promise<Survey> {
    return { ...(await super.survey(question)), isTruncated: false };
  }
}

export class SurveysWithLocks extends MemoryBackend {
  override async survey(question: SurveyQuestion): Promise<Survey> {
    const survey = await super.survey(question);
    for (const key of [question.prefix ?? '', ...survey.keys.map((one) => one.key)]) {
      const request = { key, mode: 'exclusive', line: 'fifo', wait: true, signal: NEVER } as const;
      void this.acquire(request).catch(() => {});
    }
    return survey;
  }
}

export class SurveysOnAndOn extends Changed {
  protected override question(question: SurveyQuestion): SurveyQuestion {
    return { ...question, signal: NEVER };
  }
}
