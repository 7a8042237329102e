"""Answers HTTP requests with the people in a picture, with FastAPI: uvicorn server:app

curl --data-binary @street.jpg http://127.0.0.1:8000/people"""

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

import sightline as sl

app = FastAPI()
detector = sl.Detector("people")


@app.exception_handler(sl.InputError)
def refuse(request: Request, error: sl.InputError):
    return JSONResponse({"detail": str(error)}, status_code=415)


@app.post("/people")
async def people(request: Request):
    picture = await request.body()
    # Searched in a thread: calls release Python's lock, and requests share the detector.
    result = await run_in_threadpool(detector, picture)
    return {"digest": result.digest, "people": result.xyxy.tolist(), "confidence": result.confidence.tolist()}
